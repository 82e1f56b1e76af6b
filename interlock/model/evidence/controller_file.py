"""`evidence/controllers-<name>.json`: `interlock controllers --record` asked a V-IPU controller how it is set.

What it says stands there whether it is good or not. Null stands for what nobody said. No key stands here.
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from interlock.model.site.controller_readings import EVERYWHERE
from interlock.model.site.software_file import Version
from interlock.model.text.errors import Code, fault
from interlock.model.text.names import DeviceName, tenant_name
from interlock.model.text.validation import FileModel
from interlock.model.text.values import QUOTE_IT, shown

from .sealed_files import SealedFile
from .values import Moment

#: Characters of the id of an agent: a plan's is of tenant, vPOD and machine, and a person may have called it otherwise.
_MOST_ID = 255


def agent_id(value: Any) -> str:
    """What a controller calls an agent, on one line."""
    if not isinstance(value, str):
        raise fault(Code.WRONG_TYPE, f"{shown(value)} is not a text", QUOTE_IT)
    if not value.strip() or len(value) > _MOST_ID or not value.isprintable():
        raise fault(Code.NAME, f"{shown(value)} is no id of an agent", f"one line of 1 to {_MOST_ID} characters")
    return value


AgentId = Annotated[
    str, BeforeValidator(agent_id), WithJsonSchema({"type": "string", "minLength": 1, "maxLength": _MOST_ID})
]


class AgentReleaseFile(FileModel):
    """One agent of a controller."""

    agent: AgentId = Field(description="id of the agent at the controller")
    release: Version | None = Field(description="its release; null: the controller does not say it")


class ForwardingOffFile(FileModel):
    """Whether the controller's machine forwards nothing, by its kernel; null: not read."""

    ipv4: bool | None = Field(description="`net.ipv4.ip_forward` is 0; null: not read")
    ipv6: bool | None = Field(description="`net.ipv6.conf.all.forwarding` is 0; null: not read")


class ControllerBackupFile(FileModel):
    """What lay in the folder of backups."""

    state: Moment | None = Field(
        description="up to when `vipu-server.json` of the controller was copied there; null: no copy is there"
    )
    certificates: bool = Field(description="certificates of the server lie beside it")


def listening_address(value: Any) -> str:
    """An address of a socket, or `*` of one that takes IPv4 and IPv6 at every address."""
    if not isinstance(value, str):
        raise fault(Code.WRONG_TYPE, f"{shown(value)} is not a text", QUOTE_IT)
    try:
        return value if value == EVERYWHERE else str(ip_address(value))
    except ValueError:
        raise fault(Code.VALUE, f"{shown(value)} is no address", "write an IP address, or `*`") from None


ListeningAddress = Annotated[
    str, BeforeValidator(listening_address), WithJsonSchema({"type": "string", "examples": ["10.1.5.10", "*"]})
]


class AdminApiFile(FileModel):
    """Where the controller's machine takes calls at the port of the admin API. No packet filter is read."""

    port: int = Field(ge=1, le=65535, description="TCP port that vipu.yaml says is the admin API's")
    addresses: list[ListeningAddress] = Field(
        description="addresses at which something listens there, `*` for every one; none: it is another port"
    )


class ControllerEvidenceFile(SealedFile):
    """One V-IPU controller, which was asked once."""

    controller: DeviceName = Field(description="plan name of the controller, and in the name of this file")
    tenant: Annotated[str, BeforeValidator(tenant_name)] = Field(description="id of the tenant whose plan it is of")
    release: Version | None = Field(description="release of the controller; null: it does not say it")
    agents: list[AgentReleaseFile] = Field(description="all agents that it lists")
    keys_asked: bool | None = Field(
        description="false: it answered a call with a wrong key; true: it refused one; null: not known"
    )
    certificates: bool | None = Field(description="it has certificates of its own; null: not read")
    forwarding_off: ForwardingOffFile = Field(description="whether its machine forwards nothing")
    backup: ControllerBackupFile | None = Field(description="what is there of a backup; null: nobody looked")
    admin_api: AdminApiFile | None = Field(description="where its admin API listens; null: not read")
    user_data_clean: bool | None = Field(
        description="false: a key stands written out in the user data on its machine; null: not read"
    )

    @property
    def device(self) -> str:
        """The controller."""
        return self.controller
