"""Fills the templates in `conf/` with an instance's ports and paths."""

import json
import os
from pathlib import Path
from string import Template

from sandbox.launcher import passing
from sandbox.launcher.catalogue import PASSWORD, REGION, SERVICE_USERS
from sandbox.launcher.errors import SandboxError
from sandbox.launcher.install import python
from sandbox.launcher.layout import ROOT, TEMPLATES, VENV, Instance
from sandbox.rack.reading import rack_of
from sandbox.rack.table import Rack
from sandbox.services.hosts import VIRTUAL_FUNCTION
from sandbox.switches import driver

# The services talk only to 127.0.0.1; a proxy from the caller's shell would take that traffic away.
PROXIES = frozenset({"http_proxy", "https_proxy", "all_proxy"})

# The one VLAN of a physical network that Neutron may choose by itself; outside every pool that an operator hands out.
OWN_VLAN = 4090

LOGIN = """auth_type = password
auth_url = {url}
username = {user}
password = {password}
project_name = service
user_domain_name = Default
project_domain_name = Default
region_name = {region}
"""


def site_packages() -> Path:
    """Where the virtual environment keeps its packages."""
    found = sorted((VENV / "lib").glob("python3.*/site-packages"))
    if not found:
        raise SandboxError(f"{VENV} holds no packages. Run the command `install`.")
    return found[0]


def values(instance: Instance, ports: dict[str, int]) -> dict[str, str]:
    """Everything a template may name."""
    rack = rack_of(instance.folder)
    keystone = f"http://127.0.0.1:{ports['keystone']}/v3"
    logins = {
        f"login_{user}": LOGIN.format(url=keystone, user=user, password=PASSWORD, region=REGION)
        for user in SERVICE_USERS
    }
    places = {
        "conf": str(instance.conf),
        "state": str(instance.state),
        "log": str(instance.logs),
        "venv": str(VENV),
        "site_packages": str(site_packages()),
        "switches": driver.sections(rack, instance.conf, instance.state, ports["switches"]),
    }
    networks = {
        "vlan_ranges": ",".join(f"{network.name}:{OWN_VLAN}:{OWN_VLAN}" for network in rack.physical_networks),
        "flat_networks": ",".join(network.name for network in rack.physical_networks if network.flat),
        "device_specs": "\n".join(f"device_spec = {spec}" for spec in device_specs(rack)),
        **passing.settings(passes_nodes=passes_nodes(rack)),
    }
    numbers = {f"port_{name}": str(port) for name, port in ports.items()}
    return {"keystone": keystone, "password": PASSWORD, "region": REGION, **logins, **places, **networks, **numbers}


def device_specs(rack: Rack) -> list[str]:
    """For each PCI bus that has cards, their virtual functions and the physical network that they are on."""
    networks = sorted({(bus, host.physical_network) for host in rack.hosts for bus in host.buses})
    vendor, product = VIRTUAL_FUNCTION
    return [
        json.dumps(
            {"vendor_id": vendor, "product_id": product, "address": f"*:{bus:02x}:*.*", "physical_network": network}
        )
        for bus, network in networks
    ]


def passes_nodes(rack: Rack) -> bool:
    """True if servers of the rack take GPU nodes whole."""
    return any(host.shape.adapters for host in rack.hosts)


def write(instance: Instance, ports: dict[str, int]) -> None:
    """Write every configuration file and clouds.yaml, over what was there."""
    known = values(instance, ports)
    instance.conf.mkdir(parents=True, exist_ok=True)
    for template in sorted(TEMPLATES.iterdir()):
        text = Template(template.read_text(encoding="utf-8")).substitute(known)
        target = instance.clouds if template.name == "clouds.yaml" else instance.conf / template.name
        write_private(target, text)


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read, whole or not at all."""
    temporary = path.with_name(path.name + ".new")
    temporary.unlink(missing_ok=True)
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as handle:
        handle.write(text)
    temporary.replace(path)


def environment(instance: Instance) -> dict[str, str]:
    """The environment of a service process."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("OS_", "PYTHON")) and name.lower() not in PROXIES
    }
    return kept | {
        "SANDBOX_INSTANCE": str(instance.folder),
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "ignore",
        # fewer arenas: a third less memory with many threads
        "MALLOC_ARENA_MAX": "2",
    }


def command(module: str, *arguments: str) -> list[str]:
    """The command line of a service module; -P keeps the working directory off the module path."""
    return [str(python()), "-P", "-m", module, *arguments]
