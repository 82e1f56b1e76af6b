"""`evidence/switches-<switch>.json`: `interlock switches --record` read a switch, and it is as stated."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from interlock.model.text.names import DeviceName, DisplayName, Serial

from .sealed_files import DigestText, SealedFile

_MAC = Annotated[str, Field(pattern="^([0-9a-f]{2}:){5}[0-9a-f]{2}$")]


class SwitchEvidenceFile(SealedFile):
    """One switch, read once, with nothing that differs from what is stated of it."""

    switch: DeviceName = Field(description="name of the switch in the site file, and in the name of this file")
    serial: Serial | None = Field(description="as the switch says it; null: a virtual switch, which has none")
    system_mac: _MAC | None = Field(description="as the switch says it")
    model: DisplayName | None = Field(description="as the switch says it")
    configuration: DigestText = Field(
        description="digest of what the site states of the switch, which it was held against"
    )
    plans: dict[str, DigestText] = Field(
        description="stack that was applied then → hash of its plan, whose ports counted"
    )
    ports: Annotated[int, Field(ge=1)] = Field(description="ports that were compared")
    unheard: Annotated[int, Field(ge=0)] = Field(description="cables at which LLDP heard nobody: as stated, or not")
    result: Literal["as stated"] = Field(description="nothing differs and nothing is unknown; else no file is written")

    @property
    def device(self) -> str:
        """The switch."""
        return self.switch
