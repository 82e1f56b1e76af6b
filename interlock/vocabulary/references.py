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


@dataclass(frozen=True, slots=True)
class CloudId:
    """`cloud-id:<id>`: an object by its id, where a reference should be and no plan has a name for it."""

    id: str

    @classmethod
    def named(cls, value: object) -> CloudId | None:
        """From what stands in a field; None for everything else."""
        is_one = isinstance(value, str) and value.startswith(_BY_ID)
        return cls(str(value).removeprefix(_BY_ID)) if is_one else None

    @classmethod
    def parse(cls, text: str) -> CloudId:
        """From its text. Raises ValueError for anything else."""
        found = cls.named(text)
        if found is None:
            raise ValueError(f"{text!r} names nothing by its id: {_BY_ID}<id>")
        return found

    def __str__(self) -> str:
        return f"{_BY_ID}{self.id}"


@dataclass(frozen=True, slots=True)
class ExistingObject:
    """`Image/poplar`: an object that the operator's stack finds on the cloud, under `existing:` in the site file."""

    kind: str
    name: str

    @classmethod
    def parse(cls, text: str) -> ExistingObject:
        """From a key of `existing:`. Raises ValueError if it has no kind or no name."""
        kind, _, name = text.partition("/")
        if not (kind and name):
            raise ValueError(f"{text!r} is no object: <kind>/<name>")
        return cls(kind, name)

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"


_BY_ID = "cloud-id:"

#: The operator's own user, whatever it is called on the cloud.
OPERATOR_USER = Reference.cloud("User", "@operator")
#: A role that counts in every project of the cloud, whichever it is given on (default policies of all services).
ADMIN_ROLE = Reference.cloud("Role", "admin")
READER_ROLE = Reference.cloud("Role", "reader")
#: The site's external network, as tenants' routers name it, and its subnet.
EXTERNAL_REFERENCE = Reference.site("Network", "external")
EXTERNAL_SUBNET = Reference.site("Subnet", "external-subnet")
#: The operator's project for controllers: nobody of the tenant can enter, rescue or see them.
CONTROLLERS_PROJECT = Reference.site("Project", "controllers")


def _kind_and_name(text: str, scheme: Scheme) -> tuple[str, str]:
    kind, _, name = text.removeprefix(f"{scheme}:").partition("/")
    return kind, name
