"""References between planned objects: to the same plan by name, to the operator's stack, or to the cloud itself."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Scheme(StrEnum):
    """Whose objects a reference names; a plan's own have no scheme."""

    SITE = "site"
    CLOUD = "cloud"


@dataclass(frozen=True)
class Reference:
    """`acme-train-storage`, `site:Flavor/poplar` or `cloud:Role/reader`.

    `scheme` None: a resource of the same plan, by its plan name; then there is no kind, since the plan has it.
    """

    name: str
    kind: str = ""
    scheme: Scheme | None = None

    @classmethod
    def parse(cls, text: str) -> Reference:
        """From the text of a field. Raises ValueError for one with a scheme that names no kind or no object."""
        scheme = cls.scheme_of(text)
        if scheme is None:
            return cls(text)
        kind, name = _kind_and_name(text, scheme)
        if not (kind and name):
            raise ValueError(f"{text!r} names nothing: {scheme}:<kind>/<name>")
        return cls(name, kind, scheme)

    def __str__(self) -> str:
        return self.name if self.scheme is None else f"{self.scheme}:{self.kind}/{self.name}"

    @classmethod
    def site(cls, kind: str, name: str) -> str:
        """The text of a reference to an object of the operator's stack."""
        return str(cls(name, kind, Scheme.SITE))

    @classmethod
    def cloud(cls, kind: str, name: str) -> str:
        """The text of a reference to something that the cloud itself brings."""
        return str(cls(name, kind, Scheme.CLOUD))

    @staticmethod
    def scheme_of(text: str) -> Scheme | None:
        """Whose objects a text names, whether or not there can be one of that name."""
        return next((scheme for scheme in Scheme if text.startswith(f"{scheme}:")), None)

    @classmethod
    def kind_of(cls, text: str) -> str:
        """The kind that a text states; empty for names of the plan, which has their kind."""
        scheme = cls.scheme_of(text)
        return _kind_and_name(text, scheme)[0] if scheme is not None else ""

    @classmethod
    def name_in(cls, text: str, scheme: Scheme, kind: str) -> str | None:
        """The name of the object, if a text names one of this scheme and kind; None for every other text."""
        head = f"{scheme}:{kind}/"
        return text.removeprefix(head) if text.startswith(head) else None

    @property
    def is_own(self) -> bool:
        """True if it names a resource of the same plan."""
        return self.scheme is None


def _kind_and_name(text: str, scheme: Scheme) -> tuple[str, str]:
    kind, _, name = text.removeprefix(f"{scheme}:").partition("/")
    return kind, name
