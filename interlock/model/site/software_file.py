"""Versions, and what runs on a GPU node, as `site.yaml` states it of an image."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from interlock.model.text.errors import Code, fault
from interlock.model.text.validation import FileModel
from interlock.model.text.values import shown

_VERSION = re.compile(r"[0-9]+(\.[0-9A-Za-z_+~-]+)*")
_OS = re.compile(r"[a-z]+(-[a-z]+)*(-[0-9]+([.][0-9]+)*(sp[0-9]+)?)?")
_SYSCTL = re.compile(r"[a-z0-9_-]+(\.[A-Za-z0-9_*-]+)+")


def _version(value: Any) -> str:
    """A version as its maker writes it: words between dots. YAML takes one with a single dot for a number."""
    if not isinstance(value, str) or _VERSION.fullmatch(value) is None:
        hint = 'write it as its maker does, between quotes: "3.0.0"'
        raise fault(Code.VALUE, f"`{value}` is no version", hint)
    return value


def _version_or(word: str, meaning: str) -> BeforeValidator:
    def read(value: Any) -> str:
        if value == word:
            return word
        if not isinstance(value, str) or _VERSION.fullmatch(value) is None:
            hint = f'write it as its maker does, between quotes: "3.0.0", or `{word}`: {meaning}'
            raise fault(Code.VALUE, f"`{value}` is no version", hint)
        return value

    return BeforeValidator(read)


def _os(value: Any) -> str:
    if not isinstance(value, str) or _OS.fullmatch(value) is None:
        hint = "name it and its release in small letters: `ubuntu-22.04`, `rhel-9.4`, `sles-15sp5`, `dgx-os-6`"
        raise fault(Code.VALUE, f"{shown(value)} is no operating system with its release", hint)
    return value


def _sysctl(value: Any) -> str:
    if not isinstance(value, str) or _SYSCTL.fullmatch(value) is None:
        hint = "write its name with dots and without a value: `kernel.numa_balancing`"
        raise fault(Code.VALUE, f"{shown(value)} is no key of sysctl", hint)
    return value


def _text(pattern: re.Pattern[str], example: str, *words: str) -> WithJsonSchema:
    said = {"type": "string", "pattern": f"^{pattern.pattern}$", "examples": [example]}
    return WithJsonSchema({"anyOf": [{"enum": list(words)}, said]} if words else said)


Version = Annotated[str, BeforeValidator(_version), _text(_VERSION, "3.0.0")]
OfedVersion = Annotated[
    str, _version_or("inbox", "the drivers of the kernel itself"), _text(_VERSION, "24.10-1.1.4.0", "inbox")
]
LustreVersion = Annotated[str, _version_or("none", "there is no client in it"), _text(_VERSION, "2.15.4", "none")]
OsName = Annotated[str, BeforeValidator(_os), _text(_OS, "ubuntu-22.04")]
SysctlKey = Annotated[str, BeforeValidator(_sysctl), _text(_SYSCTL, "kernel.numa_balancing")]


class ImageSoftwareFile(FileModel):
    """What runs on GPU nodes that boot an image. What is left out is unknown, and no rule takes it for a pass."""

    os: OsName | None = Field(default=None, description="its operating system; without it, that of `properties`")
    kernel: Version | None = Field(default=None, description="version of its kernel; without it, that of `properties`")
    driver: Version | None = Field(default=None, description="version of its NVIDIA driver")
    open_kernel_module: bool | None = Field(
        default=None, description="whether the driver's kernel modules are the open ones"
    )
    persistenced: bool | None = Field(default=None, description="whether `nvidia-persistenced` runs")
    cuda: Version | None = Field(default=None, description="version of CUDA that is in it")
    nccl: Version | None = Field(default=None, description="version of NCCL that is in it")
    ofed: OfedVersion | None = Field(
        default=None, description="version of MLNX_OFED or DOCA-OFED, or `inbox`: the drivers of the kernel itself"
    )
    ofed_kernels: list[Version] | None = Field(
        default=None, description='kernels that this build of OFED is for: "5.15" stands for all that begin so'
    )
    peermem: bool | None = Field(default=None, description="whether the module `nvidia-peermem` is loaded")
    dma_buf: bool | None = Field(default=None, description="whether GPUDirect RDMA goes by DMA-BUF")
    sharp: bool | None = Field(default=None, description="whether its jobs use SHARP: reductions in switches")
    sharp_firmware: Version | None = Field(
        default=None, description="firmware of InfiniBand switches that this OFED uses SHARP with"
    )
    pfc_priority: Annotated[int, Field(ge=0, le=7)] | None = Field(
        default=None, description="class that the node pauses on interfaces for RoCE"
    )
    ecn: bool | None = Field(default=None, description="whether the node reacts to congestion marks of RoCE")
    secure_boot: bool | None = Field(default=None, description="whether nodes boot it with Secure Boot")
    signed_modules: bool | None = Field(
        default=None, description="whether its own modules are signed by a key that the nodes' firmware trusts (MOK)"
    )
    mig: bool | None = Field(default=None, description="whether it sets GPUs into MIG mode")
    mitigations: bool | None = Field(default=None, description="false if it boots with `mitigations=off`")
    lustre: LustreVersion | None = Field(
        default=None, description="version of its Lustre client, or `none`: there is no client in it"
    )
    sysctls: list[SysctlKey] | None = Field(default=None, description="keys that it sets by sysctl, `[]` for none")
    container_host: bool | None = Field(
        default=None, description="whether all that tenants run on it are containers, as on Flatcar"
    )
