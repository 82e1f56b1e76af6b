"""The shipped leaky examples: where the one bad line of each is, and what the file is without it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

#: `<bad line> # LEAK (instead: <good line>)`, where `nothing` stands for no line at all.
_LEAK = re.compile(r"^(?P<indent> *)(?P<bad>\S.*?) # LEAK \(instead: (?P<good>.*)\)$", re.MULTILINE)


@dataclass(frozen=True)
class Leak:
    """A case `stacks/leaky/<case>`: its site, a tenant whose `up` is refused, the file with the bad line."""

    case: str
    site: str
    tenant: str
    file: str

    @property
    def folder(self) -> Path:
        """The folder of the site, as shipped."""
        return ROOT / "stacks" / "leaky" / self.case

    @property
    def stack(self) -> str:
        """The stack whose `up` is refused."""
        return f"{self.site}-{self.tenant}"

    @property
    def bad_line(self) -> str:
        """The bad line, without indentation and comment."""
        return _found((self.folder / self.file).read_text(encoding="utf-8"))["bad"]


LEAKS = (
    Leak("vlan-of-another", "leakyvlan", "globex", "tenants/globex.yaml"),
    Leak("one-vlan-two-names", "leakynames", "globex", "tenants/globex.yaml"),
    Leak("poplar-on-management", "leakymgmt", "acme", "site.yaml"),
    Leak("overlapping-subnets", "leakysubnets", "acme", "tenants/acme.yaml"),
    Leak("machines-with-a-hole", "leakyhole", "acme", "tenants/acme.yaml"),
    Leak("gateway-without-scope", "leakyscope", "globex", "site.yaml"),
)


def mended(text: str) -> str:
    """The text of a file with its bad line replaced by the good one."""
    good = _found(text)["good"]
    return _LEAK.sub("" if good == "nothing" else rf"\g<indent>{good}", text)


def _found(text: str) -> re.Match[str]:
    matches = list(_LEAK.finditer(text))
    if len(matches) != 1:
        raise AssertionError(f"{len(matches)} lines are marked as the bad one")
    return matches[0]
