"""When evidence of a release counts: what the site says about files in `evidence/` (docs/how-to/claims.md)."""

from __future__ import annotations

from pydantic import Field

from interlock.model.evidence.values import Age
from interlock.model.text.validation import FileModel
from interlock.resources import Frozen


class EvidenceTerms(Frozen):
    """How old evidence may be, in hours; None: nobody stated it, so none counts."""

    max_age_h: int | None = None


class EvidenceTermsFile(FileModel):
    """Terms of evidence."""

    max_age: Age | None = Field(
        default=None, description="how old evidence may be when `interlock settle` reads it; without it none counts"
    )

    def terms(self) -> EvidenceTerms:
        """In full form."""
        return EvidenceTerms(max_age_h=self.max_age)
