"""Settings of Nova and Placement for PCI devices, with and without servers that take GPU nodes whole.

With them each device is a resource provider below its host's, of the resource class of its kind. One server asks for
20 devices, each in a group of its own: as Placement tries combinations, it does not come to an end within minutes
unless it stops at a number of candidates, goes breadth first, and treats wide trees of providers apart.
"""

import json

#: Kind, as device_spec selects it -> its resource class, and what Nova does with it.
_DEVICES = (
    ({"vendor_id": "10de", "product_id": "2330"}, "CUSTOM_GPU_H100", "h100", "type-PCI"),
    ({"vendor_id": "10de", "product_id": "22a3"}, "CUSTOM_NVSWITCH", "nvswitch", "type-PCI"),
    ({"vendor_id": "15b3", "product_id": "1021"}, "CUSTOM_HCA", "hca", "type-PF"),
)
#: Most combinations of devices that Placement answers with.
CANDIDATES = 100


def settings(*, passes_nodes: bool) -> dict[str, str]:
    """Values of the templates of nova.conf and placement.conf."""
    if not passes_nodes:
        gpu = {"vendor_id": "10de", "product_id": "2330"}
        alias = {"name": "h100", **gpu, "device_type": "type-PCI"}
        plain = f"device_spec = {json.dumps(gpu)}\nalias = {json.dumps(alias)}\n"
        return {"scheduler_settings": "", "pci_settings": plain, "placement_settings": ""}
    lines = ["report_in_placement = true"]
    for selected, resource_class, name, kind in _DEVICES:
        spec = {**selected, "resource_class": resource_class, "one_time_use": "true"}
        alias = {"name": name, "resource_class": resource_class, "device_type": kind}
        lines += [f"device_spec = {json.dumps(spec)}", f"alias = {json.dumps(alias)}"]
    placement = (
        f"[placement]\nmax_allocation_candidates = {CANDIDATES}\n"
        "allocation_candidates_generation_strategy = breadth-first\n\n"
        "[workarounds]\noptimize_for_wide_provider_trees = true\n\n"
    )
    return {
        "scheduler_settings": "pci_in_placement = true\n",
        "pci_settings": "\n".join(lines) + "\n",
        "placement_settings": placement,
    }
