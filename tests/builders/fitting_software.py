"""What an image of GPU nodes states where everything fits."""

from __future__ import annotations

from typing import Any

#: What an image states in which everything fits, on nodes that use InfiniBand.
FITTING: dict[str, Any] = {
    "os": "ubuntu-22.04", "kernel": "5.15.0-1063-nvidia", "driver": "550.90.07", "open_kernel_module": True,
    "persistenced": True, "cuda": "12.4", "nccl": "2.21.5", "ofed": "24.10-1.1.4.0", "ofed_kernels": ("5.15",),
    "peermem": True, "dma_buf": False, "sharp": True, "sharp_firmware": "31.2012.1024", "pfc_priority": 3, "ecn": True,
    "secure_boot": True, "signed_modules": True, "mig": False, "mitigations": True, "lustre": "2.15.4",
    "sysctls": ("vm.swappiness",), "container_host": False,
}  # fmt: skip
