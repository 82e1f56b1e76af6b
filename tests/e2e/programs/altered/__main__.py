"""The program with one proved input altered on its way to the engine: the VLAN of a data network."""

import runpy
from typing import Any

import pulumi

import infra

original = pulumi.CustomResource.__init__


def altered(self: pulumi.CustomResource, kind: str, name: str, props: dict[str, Any], *rest: Any, **more: Any) -> None:
    if name.endswith("-ipu-data") and kind.endswith(":Network"):
        props = props | {"segmentation_id": 1001}
    original(self, kind, name, props, *rest, **more)


pulumi.CustomResource.__init__ = altered  # type: ignore[method-assign, assignment]
runpy.run_path(infra.__path__[0], run_name="__main__")
