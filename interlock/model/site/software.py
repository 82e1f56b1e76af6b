"""What runs on a GPU node, as the site states it of an image. None is not stated: unknown, and never a pass."""

from __future__ import annotations

from typing import Final, Literal

from interlock.resources import Frozen

#: Instead of a version of MLNX_OFED or DOCA-OFED: the RDMA drivers of the kernel itself.
INBOX: Final = "inbox"
#: Instead of a version of the Lustre client: the image has none.
NO_CLIENT: Final = "none"

Inbox = Literal["inbox"]
NoClient = Literal["none"]


class ImageSoftware(Frozen):
    """Software and settings of an image of GPU nodes."""

    #: As in `ubuntu-22.04`, `rhel-9.4`, `dgx-os-6`; None: that of `properties`.
    os: str | None = None
    #: None: that of `properties`.
    kernel: str | None = None
    #: Version of the NVIDIA driver.
    driver: str | None = None
    open_kernel_module: bool | None = None
    persistenced: bool | None = None
    cuda: str | None = None
    nccl: str | None = None
    #: Version of MLNX_OFED or DOCA-OFED, or `INBOX`.
    ofed: str | None = None
    #: Kernels that this build of OFED was made for; each stands for all that begin with its parts.
    ofed_kernels: tuple[str, ...] | None = None
    #: Ways of GPUDirect RDMA: the module `nvidia-peermem`, and DMA-BUF.
    peermem: bool | None = None
    dma_buf: bool | None = None
    #: Whether jobs reduce in switches, and the firmware of switches that this OFED does it with.
    sharp: bool | None = None
    sharp_firmware: str | None = None
    #: What the node sets on RoCE interfaces: the class that is paused, and whether it reacts to congestion marks.
    pfc_priority: int | None = None
    ecn: bool | None = None
    secure_boot: bool | None = None
    #: Modules that the distribution did not sign are signed by a key that the nodes' firmware has (MOK).
    signed_modules: bool | None = None
    #: Whether it sets GPUs into MIG mode when it boots.
    mig: bool | None = None
    #: False: it boots with `mitigations=off`.
    mitigations: bool | None = None
    #: Version of the Lustre client, or `NO_CLIENT`.
    lustre: str | None = None
    #: Keys that it sets by sysctl.
    sysctls: tuple[str, ...] | None = None
    #: Whether everything that tenants run there is a container.
    container_host: bool | None = None
