"""The program with one reference swapped: a port is put on the network whose id the environment names."""

import os
import runpy
from typing import Any

import pulumi

import infra

original = pulumi.CustomResource.__init__


def swapped(self: pulumi.CustomResource, kind: str, name: str, props: dict[str, Any], *rest: Any, **more: Any) -> None:
    if name.endswith("-poplar-0-ipu-data") and kind.endswith(":Port"):
        props = props | {"id_of_network": os.environ["SWAPPED_NETWORK"]}
    original(self, kind, name, props, *rest, **more)


pulumi.CustomResource.__init__ = swapped  # type: ignore[method-assign, assignment]
runpy.run_path(infra.__path__[0], run_name="__main__")
