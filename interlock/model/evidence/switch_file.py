"""`evidence/switches-<switch>.json`: `interlock switches --record` read a switch, and it is as stated."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field

from interlock.model.text.names import DeviceName, DisplayName, Serial, SiteName
from interlock.model.text.validation import FileModel
from interlock.model.text.yaml_reading import REQUEST, FileLimits
from interlock.resources import digest_of
from interlock.vocabulary.digests import Digest

from .values import Moment, moment_text

#: The version of the form below; it grows when a file of before would mean something else.
FORMAT: Final = 1
#: In the place of the digest, until the rest of a file is known.
UNSEALED: Final = str(Digest.of(b""))
_DIGEST = Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$")]
_MAC = Annotated[str, Field(pattern="^([0-9a-f]{2}:){5}[0-9a-f]{2}$")]


class SwitchEvidenceFile(FileModel):
    """One switch, read once, with nothing that differs from what is stated of it."""

    LIMITS: ClassVar[FileLimits] = REQUEST

    format: Literal[1] = Field(description="version of this form")
    site: SiteName = Field(description="name of the site")
    switch: DeviceName = Field(description="name of the switch in the site file, and in the name of this file")
    serial: Serial | None = Field(description="as the switch says it; null: a virtual switch, which has none")
    system_mac: _MAC | None = Field(description="as the switch says it")
    model: DisplayName | None = Field(description="as the switch says it")
    read: Moment = Field(description="when it was asked, in UTC by the clock of whoever asked")
    by: DisplayName = Field(description="who asked, and answers for it")
    configuration: _DIGEST = Field(
        description="digest of what the site states of the switch, which it was held against"
    )
    plans: dict[str, _DIGEST] = Field(description="stack that was applied then → hash of its plan, whose ports counted")
    ports: Annotated[int, Field(ge=1)] = Field(description="ports that were compared")
    unheard: Annotated[int, Field(ge=0)] = Field(description="cables at which LLDP heard nobody: as stated, or not")
    result: Literal["as stated"] = Field(description="nothing differs and nothing is unknown; else no file is written")
    digest: _DIGEST = Field(description="over all else in the file")

    @property
    def content(self) -> dict[str, Any]:
        """All but the digest, as it is written."""
        return self.model_dump(mode="json", exclude={"digest"}) | {"read": moment_text(self.read)}

    @property
    def expected_digest(self) -> str:
        """That of what is in it."""
        return digest_of(self.content)

    def sealed(self) -> SwitchEvidenceFile:
        """The same with its digest."""
        return self.model_copy(update={"digest": self.expected_digest})
