"""Files of evidence that `interlock` itself wrote of a device, each with a digest over the rest of it.

A file that is wrong in itself (edited, of another site, of a time that is yet to come) is an error.
"""

from __future__ import annotations

import datetime
import json
from abc import abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Generic, Literal, Self, TypeVar

from pydantic import Field

from interlock.model.text.errors import Code, InputError, InputErrors
from interlock.model.text.names import DisplayName, SiteName
from interlock.model.text.source import Source
from interlock.model.text.validation import FileModel, nearest, validated
from interlock.model.text.yaml_reading import REQUEST, FileLimits
from interlock.resources import digest_of
from interlock.vocabulary import Position
from interlock.vocabulary.digests import Digest
from interlock.whole_files import write_at_once

from .reading import FOLDER
from .values import Moment, moment_text

#: The version of these forms; it grows when a file of before would mean something else.
FORMAT: Final = 1
#: In the place of the digest, until the rest of a file is known.
UNSEALED: Final = str(Digest.of(b""))
_SUFFIX = ".json"
DigestText = Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$")]


class SealedFile(FileModel):
    """What all of them have: one device, asked once."""

    LIMITS: ClassVar[FileLimits] = REQUEST

    format: Literal[1] = Field(description="version of this form")
    site: SiteName = Field(description="name of the site")
    read: Moment = Field(description="when it was asked, in UTC by the clock of whoever asked")
    by: DisplayName = Field(description="who asked, and answers for it")
    digest: DigestText = Field(description="over all else in the file")

    @property
    @abstractmethod
    def device(self) -> str:
        """What was asked, by its name in the site file."""

    @property
    def content(self) -> dict[str, Any]:
        """All but the digest, as it is written."""
        return self.model_dump(mode="json", exclude={"digest"}) | {"read": moment_text(self.read)}

    @property
    def expected_digest(self) -> str:
        """That of what is in it."""
        return digest_of(self.content)

    def sealed(self) -> Self:
        """The same with its digest."""
        return self.model_copy(update={"digest": self.expected_digest})


F = TypeVar("F", bound=SealedFile)
#: What is wrong with a file that was read: the code, the key, the words, what to do.
Wrong = tuple[Code, str, str, str]


@dataclass(frozen=True)
class SealedForm(Generic[F]):
    """One kind of such files, one for each device of a kind: `switches-tor-1.json`."""

    model: type[F]
    #: What their names begin with.
    prefix: str
    #: The key that names the device.
    key: str
    #: The kind of device, and one of them, in words.
    kind: str
    one: str
    #: The command that writes them.
    renew: str

    def file_of(self, device: str) -> str:
        """The file of a device, relative to the site's folder."""
        return Path(FOLDER, f"{self.prefix}{device}{_SUFFIX}").as_posix()

    def write(self, folder: Path, evidence: F) -> Path:
        """Write the file of a device below a site's folder, in place of the one that there may be."""
        path = folder / self.file_of(evidence.device)
        path.parent.mkdir(exist_ok=True)
        document = evidence.content | {"digest": evidence.digest}
        write_at_once(path, json.dumps(document, indent=1) + "\n")
        return path

    def wrong(self, found: F, source: Source, devices: Collection[str]) -> Wrong | None:
        """What is wrong with a file that is sealed and of this site, which has these devices."""
        name = found.device
        if source.file.name != Path(self.file_of(name)).name:
            words = f"it is evidence of `{name}`, and its name says another {self.kind}"
            return Code.CONTRADICTION, self.key, words, f"call it {Path(self.file_of(name)).name}"
        if name not in devices:
            hint = f"delete the file if that {self.kind} is gone; {nearest(name, devices)}"
            return Code.NO_SUCH, self.key, f"`{name}` is not {self.one} of this site", hint
        return None

    @property
    def again(self) -> str:
        """What to do about a file that cannot count."""
        return f"delete the file, and run `{self.renew}`"


@dataclass(frozen=True)
class SealedFilesRead(Generic[F]):
    """The files of one kind of a site, by device, and everything that is wrong with them."""

    files: Mapping[str, F]
    faults: tuple[InputError, ...] = ()


@dataclass(frozen=True)
class SiteOfFiles:
    """What files are held against: the name of their site, its devices of their kind, and the time."""

    name: str
    devices: Collection[str]
    now: datetime.datetime


def read_sealed(form: SealedForm[F], folder: Path, base: Path, site: SiteOfFiles) -> SealedFilesRead[F]:
    """Every such file below a site's folder; goes on after a fault, so that all are told at once."""
    files, faults = dict[str, F](), list[InputError]()
    for file in sorted((folder / FOLDER).glob(f"{form.prefix}*{_SUFFIX}")):
        try:
            source = Source.read(file, file.relative_to(base).as_posix())
            _require_json(source, form.again)
            found = _validated(form, source)
            _require_sound(form, found, source, site)
            files[found.device] = found
        except InputErrors as error:
            faults += error.errors
    return SealedFilesRead(files, tuple(faults))


def _validated(form: SealedForm[F], source: Source) -> F:
    """Raises `InputErrors`. A key that is missing, as in a file of an earlier version, nobody can add: it is sealed."""
    try:
        return validated(form.model, source)
    except InputErrors as error:
        raise InputErrors([_sealed(one, form.again) for one in error.errors]) from None


def _sealed(error: InputError, again: str) -> InputError:
    return InputError(error.code, error.position, error.message, again) if error.code is Code.MISSING_KEY else error


def _require_json(source: Source, again: str) -> None:
    try:
        json.loads(source.text)
    except json.JSONDecodeError as error:
        position = str(Position(source.name, error.lineno, error.colno))
        raise InputErrors([InputError(Code.SYNTAX, position, "not JSON", again)]) from None
    except RecursionError:
        raise InputErrors([InputError(Code.SYNTAX, source.name, "nested too deeply", again)]) from None


def _require_sound(form: SealedForm[F], found: F, source: Source, site: SiteOfFiles) -> None:
    wrong: Wrong | None
    if found.digest != found.expected_digest:
        wrong = Code.EVIDENCE_EDITED, "digest", "the digest is not that of the rest: somebody edited it", form.again
    elif found.site != site.name:
        words = f"it is evidence of the site `{found.site}`, and this is `{site.name}`"
        wrong = Code.EVIDENCE_OF_ANOTHER_SITE, "site", words, form.again
    else:
        wrong = form.wrong(found, source, site.devices)
    if wrong is None and found.read > site.now:
        words = f"{moment_text(found.read)} is yet to come"
        wrong = Code.EVIDENCE_YET_TO_COME, "read", words, f"set the clock of this machine right, or {form.again}"
    if wrong is not None:
        code, key, message, hint = wrong
        raise InputErrors([source.error(code, (key,), message, hint)])
