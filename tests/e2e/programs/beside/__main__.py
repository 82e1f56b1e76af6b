"""The program with a network declared beside the plan, after everything that was proved."""

import runpy
from typing import Any

import pulumi

import infra

original = pulumi.ProviderResource.__init__
providers: list[pulumi.ProviderResource] = []


def remembered(self: pulumi.ProviderResource, *arguments: Any, **more: Any) -> None:
    original(self, *arguments, **more)
    providers.append(self)


pulumi.ProviderResource.__init__ = remembered  # type: ignore[method-assign]
runpy.run_path(infra.__path__[0], run_name="__main__")
pulumi.CustomResource(
    "interlock:index:Network",
    "beside",
    {"name": "beside", "network_type": "vxlan", "segmentation_id": 10000, "owner": ""},
    # The provider that holds the proof: another one would refuse for lack of any.
    pulumi.ResourceOptions(provider=providers[0]),
)
