"""When evidence of a release counts: what the site says about files in `evidence/` (docs/how-to/claims.md)."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    WithJsonSchema,
    field_validator,
    model_serializer,
)

from interlock.model.evidence.values import Age
from interlock.model.text.errors import Code, fault
from interlock.model.text.validation import FileModel
from interlock.model.text.values import shown
from interlock.resources import Frozen

from .terms_of_acceptance import AcceptanceTerms, AcceptanceTermsFile

#: Beside the site file, and in no folder: who may write evidence need not be who may say which evidence counts.
_SIGNERS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
#: Names that mean another file of a site's folder.
_TAKEN = (".yaml", ".yml", ".json", ".sig")


def signers_file(value: Any) -> str:
    """The name of a file in the site's folder."""
    if not isinstance(value, str) or not _SIGNERS.fullmatch(value) or value.endswith(_TAKEN):
        hint = "name a file beside the site file, as in `signers`: letters, digits, dots, dashes and underscores"
        raise fault(Code.NAME, f"{shown(value)} is no name of a list of signers", hint)
    return value


class EvidenceTerms(Frozen):
    """How old evidence may be, in hours (None: nobody stated it, so none counts), and who signs it (None: nobody)."""

    max_age_h: int | None = None
    #: File in the site's folder that lists who may sign.
    signers: str | None = None
    #: What GPU nodes have to show, by node type; the catalogue says the rest.
    acceptance: tuple[AcceptanceTerms, ...] = ()

    @model_serializer(mode="wrap")
    def _written(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Without what sites that state nothing of GPU nodes had not before."""
        return {key: value for key, value in written(self).items() if key != "acceptance" or value}


class EvidenceTermsFile(FileModel):
    """Terms of evidence."""

    max_age: Age | None = Field(
        default=None, description="how old evidence may be when `interlock settle` reads it; without it none counts"
    )
    signers: (
        Annotated[
            str,
            BeforeValidator(signers_file),
            WithJsonSchema({"type": "string", "pattern": f"^{_SIGNERS.pattern}$", "examples": ["signers"]}),
        ]
        | None
    ) = Field(
        default=None,
        description="file beside this one that lists who may sign evidence of releases, in OpenSSH's form "
        "`allowed_signers`; with it none counts without a signature, without it nobody has to sign",
    )

    acceptance: dict[str, AcceptanceTermsFile] = Field(
        default={},
        description="node type → what GPU nodes of it have to show after their cleaning, before they are "
        "given out again; what is left out is as in the catalogue, and what is not there either is not known",
    )

    @field_validator("signers", mode="before")
    @classmethod
    def _stated(cls, value: Any) -> Any:
        """A key without a value is an edit that was broken off, and must not mean that nobody has to sign."""
        if value is None:
            raise fault(Code.VALUE, "`signers` names no file", "name one, or take the key out: then nobody has to sign")
        return value

    def terms(self) -> EvidenceTerms:
        """In full form."""
        acceptance = tuple(stated.terms(name) for name, stated in sorted(self.acceptance.items()))
        return EvidenceTerms(max_age_h=self.max_age, signers=self.signers, acceptance=acceptance)
