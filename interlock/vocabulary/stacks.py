"""Names of stacks: `<site>-<tenant>`, or `<site>-site` for the operator's own."""

from __future__ import annotations

from dataclasses import dataclass

#: What stands in the place of the tenant; no tenant may be called so.
OPERATORS = "site"


@dataclass(frozen=True)
class StackName:
    """The stack of a tenant of a site, or of the operator (`tenant` None).

    The name of a site holds no dash and that of a tenant may, so the first dash divides them.
    """

    site: str
    tenant: str | None = None

    @classmethod
    def parse(cls, text: str) -> StackName:
        """From the name of a stack. Raises ValueError if it names none of ours."""
        found = cls.named(text)
        if found is None:
            raise ValueError(f"{text!r} is no name of a stack: <site>-<tenant>, or <site>-{OPERATORS}")
        return found

    @classmethod
    def named(cls, text: str) -> StackName | None:
        """From the name of any stack; None for one of somebody else's."""
        site, dash, tenant = text.partition("-")
        return cls.of_lock(site, tenant) if site and dash and tenant else None

    @classmethod
    def of_lock(cls, site: str, owner: str) -> StackName:
        """The stack of a tenant's lock, or of the operator's part, which is called `site`."""
        return cls(site, None if owner == OPERATORS else owner)

    def __str__(self) -> str:
        return f"{self.site}-{self.tenant or OPERATORS}"

    @property
    def of_site(self) -> StackName:
        """The operator's stack of the same site."""
        return StackName(self.site)

    @property
    def is_site(self) -> bool:
        """True for the operator's own stack."""
        return self.tenant is None
