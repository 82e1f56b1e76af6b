"""The embedded cloud behind a proxy that breaks requests, and beside it the way past the proxy."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from tests.conftest import Sandbox
from tests.faults.proxy import Encrypted, Proxy
from tests.support.cloud.fabric import INFINIBAND, LISTENER, Fabric


@contextmanager
def proxied(sandbox: Sandbox, folder: Path, listeners: Iterable[str], fabric: Fabric) -> Iterator[Proxy]:
    """The proxy before these services and the subnet's UFM. Meanwhile the cloud `sandbox` leads through it, and
    `direct` past it; UFM is asked through it by both.
    """
    ports = json.loads((sandbox.dir / "ports.json").read_text())
    wanted = {listener: ports[listener] for listener in listeners if listener != LISTENER}
    server, url = fabric.standin.certificate, urlsplit(fabric.standin.url)
    encrypted = {LISTENER: Encrypted(server.chain, server.key, server.authority)}
    proxy = Proxy(wanted | {LISTENER: int(url.port or 0)}, encrypted)
    before = os.environ.get("OS_CLIENT_CONFIG_FILE")
    os.environ["OS_CLIENT_CONFIG_FILE"] = str(_clouds(sandbox, proxy, folder / "clouds.yaml"))
    _fabrics(fabric, proxy, folder)
    try:
        yield proxy
    finally:
        proxy.close()
        if before is not None:
            os.environ["OS_CLIENT_CONFIG_FILE"] = before


def _clouds(sandbox: Sandbox, proxy: Proxy, path: Path) -> Path:
    text = sandbox.clouds_yaml.read_text()
    through, past = yaml.safe_load(proxy.own(text)), yaml.safe_load(text)
    clouds = {"sandbox": through["clouds"]["sandbox"], "direct": past["clouds"]["sandbox"]}
    path.write_text(yaml.safe_dump({"clouds": clouds}))
    for name in ("switches.yaml", "vipu.yaml"):
        if (sandbox.dir / name).exists():
            shutil.copy(sandbox.dir / name, path.parent)
    return path


def _fabrics(fabric: Fabric, proxy: Proxy, folder: Path) -> None:
    """`fabrics.yaml` beside `clouds.yaml`, as an operator writes it."""
    secret = folder / "ufm.password"
    secret.write_text(f"{fabric.standin.password}\n")
    secret.chmod(0o600)
    entry = {
        "url": proxy.own(fabric.standin.url), "username": fabric.standin.user, "password_file": secret.name,
        "ca_file": fabric.standin.ca_file,
    }  # fmt: skip
    (folder / "fabrics.yaml").write_text(yaml.safe_dump({"fabrics": {INFINIBAND: entry}}))
