"""The embedded cloud behind a proxy that breaks requests, and beside it the way past the proxy."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from tests.conftest import Sandbox
from tests.faults.proxy import Proxy


@contextmanager
def proxied(sandbox: Sandbox, folder: Path, listeners: Iterable[str]) -> Iterator[Proxy]:
    """The proxy before these services. Meanwhile the cloud `sandbox` leads through it, and `direct` past it."""
    ports = json.loads((sandbox.dir / "ports.json").read_text())
    proxy = Proxy({listener: ports[listener] for listener in listeners})
    before = os.environ.get("OS_CLIENT_CONFIG_FILE")
    os.environ["OS_CLIENT_CONFIG_FILE"] = str(_clouds(sandbox, proxy, folder / "clouds.yaml"))
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
    shutil.copy(sandbox.dir / "switches.yaml", path.parent)
    return path
