"""The program with a network declared beside the plan, after everything that was proved."""

import runpy

import pulumi

import infra

runpy.run_path(infra.__path__[0], run_name="__main__")
pulumi.CustomResource(
    "interlock:index:Network",
    "beside",
    {"name": "beside", "network_type": "vxlan", "segmentation_id": 10000, "owner": "", "ids": {}},
)
