"""`evidence/fabrics-<subnet>.json`: `interlock fabrics --record` asked a UFM how its subnet manager is set.

What it says stands there whether it is good or not: a manager without keys is a fact that the proof has to know.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated

from pydantic import Field

from interlock.model.text.names import DeviceName, DisplayName
from interlock.model.text.validation import FileModel

from .sealed_files import SealedFile

_Hex16 = Annotated[str, Field(pattern="^[0-9a-f]{16}$")]


class ManagerKeys(FileModel):
    """Which keys of a subnet manager are other than the defaults; null: UFM does not say it. No key stands here."""

    m_key: bool | None = Field(description="an M_Key other than 0 is set; null: UFM does not say it")
    sm_key: bool | None = Field(description="an SM_Key other than 1 is set; null: UFM does not say it")
    sa_key: bool | None = Field(description="an SA_Key other than 1 is set; null: UFM does not say it")
    m_key_per_port: bool | None = Field(description="each port has an M_Key of its own; null: UFM does not say it")


class FabricEvidenceFile(SealedFile):
    """One InfiniBand subnet, whose UFM was asked once."""

    infiniband: DeviceName = Field(description="name of the subnet in the site file, and in the name of this file")
    prefix: _Hex16 = Field(description="prefix of the subnet, as UFM says it")
    release: DisplayName = Field(description="release of UFM, as it says it")
    keys: ManagerKeys = Field(description="which keys of the subnet manager are set")
    default_limited: bool | None = Field(
        description="everybody is a limited member of the default partition unless told otherwise; null: not said"
    )
    full_in_default: list[_Hex16] | None = Field(
        description="GUIDs that are full members of it all the same; null: UFM does not say who is in it"
    )

    @property
    def device(self) -> str:
        """The subnet."""
        return self.infiniband

    def said(self, guard: str, guids: Collection[str | None]) -> bool | None:
        """What it says of a guard of A6; None: nothing.

        `guids`: ports of nodes and of an appliance that the site has on the subnet, None for any whose GUID is not
        stated: a full member of the default partition may be such a port.
        """
        if guard == "subnet_manager_keys_set":
            found = tuple(self.keys.model_dump().values())
            return False if False in found else (None if None in found else True)
        if guard != "default_partition_limited":
            return None
        full = {*(self.full_in_default or ())}
        if self.default_limited is False or full & {*guids}:
            return False
        is_said = self.full_in_default is not None and not (full and None in guids)
        return self.default_limited if is_said else None
