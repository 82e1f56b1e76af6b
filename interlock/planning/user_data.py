"""cloud-init documents of servers: hostname and where the V-IPU API is. Readable by tenants: no secrets."""

from __future__ import annotations

from functools import lru_cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template


def poplar_user_data(hostname: str, api_host: str, api_port: int) -> str:
    """For a Poplar server: the V-IPU command line and IPUoF find the vPOD's controller."""
    return _template("poplar.yaml.j2").render(hostname=hostname, api_host=api_host, api_port=api_port)


def controller_user_data(hostname: str) -> str:
    """For a controller: it stands on two networks and forwards between them in no way."""
    return _template("controller.yaml.j2").render(hostname=hostname)


@lru_cache
def _template(name: str) -> Template:
    environment = Environment(
        loader=PackageLoader("interlock.planning"), undefined=StrictUndefined, keep_trailing_newline=True
    )
    return environment.get_template(name)
