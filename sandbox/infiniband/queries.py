"""Questions to a subnet, asked with the programs that an operator has: cables, P_Key tables, path records."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .needs import preloaded, program
from .processes import QUERY_SECONDS, SubnetFailed

#: Rows of the P_Key table of every port that ibsim simulates, in blocks of 32.
TABLE_BLOCKS = 2

_CABLE = re.compile(
    r"(?P<kind>CA|SW)\s+(?P<lid>\d+)\s+(?P<port>\d+)\s+(?P<guid>0x[0-9a-f]+)\s.*?-\s+(?P<kind2>CA|SW)\s+(?P<lid2>\d+)"
    r"\s+(?P<port2>\d+)\s+(?P<guid2>0x[0-9a-f]+)\s+\(\s'(?P<name>[^']*)'\s-\s'(?P<name2>[^']*)'\s\)"
)


@dataclass(frozen=True)
class DiscoveredEnd:
    """One end of a cable as discovered. `guid`: that of the port of an HCA, that of the node of a switch."""

    is_switch: bool
    lid: int
    port: int
    guid: int
    description: str


@dataclass(frozen=True)
class DiscoveredLink:
    """A cable as discovered; each one is there twice, from either end."""

    here: DiscoveredEnd
    there: DiscoveredEnd


@dataclass(frozen=True)
class Queries:
    """Asks one fabric, from one of its HCAs."""

    environment: Mapping[str, str]

    def links(self) -> tuple[DiscoveredLink, ...]:
        """Every cable, from either end, found by walking the fabric."""
        text = self._run([program("ibnetdiscover"), "-p"])
        return tuple(_link(match) for line in text.splitlines() if (match := _CABLE.match(line)))

    def tables(self, ports: Iterable[tuple[int, int]]) -> dict[tuple[int, int], tuple[int, ...]]:
        """(LID, port) -> P_Keys in the order of the table, without empty rows. Port 1 of an HCA, any of a switch."""
        listed = sorted(set(ports))
        if not listed:
            return {}
        reader = str(Path(__file__).with_name("tables.py"))
        words = [f"{lid}/{port}/{TABLE_BLOCKS}" for lid, port in listed]
        text = self._run([sys.executable, "-I", reader, *words])
        return dict(map(_table, text.splitlines()))

    def path_keys(self, source: int, destination: int) -> tuple[int, ...]:
        """P_Keys of the path records between two LIDs, as the subnet manager answers; () if it has none."""
        words = [program("saquery"), "PR", "--slid", str(source), "--dlid", str(destination)]
        found = re.findall(r"pkey\.+(0x[0-9a-fA-F]+)", self._run(words))
        return tuple(sorted({int(key, 16) for key in found}))

    def ask(self, *words: str) -> str:
        """What a program of infiniband-diags says. Raises SubnetFailed."""
        return self._run([program(words[0]), *words[1:]])

    def _run(self, words: Sequence[str]) -> str:
        environment = {**os.environ, **self.environment, "LD_PRELOAD": preloaded()}
        try:
            done = subprocess.run(
                words, env=environment, capture_output=True, text=True, check=False, timeout=QUERY_SECONDS
            )
        except subprocess.TimeoutExpired:
            raise SubnetFailed(f"{Path(words[0]).name} did not answer within {QUERY_SECONDS:.0f} s") from None
        if done.returncode:
            said = " ".join((done.stderr or done.stdout).split())[-300:]
            raise SubnetFailed(f"{' '.join(map(str, words[:4]))} ended with {done.returncode}: {said}")
        return done.stdout


def _link(match: re.Match[str]) -> DiscoveredLink:
    return DiscoveredLink(
        DiscoveredEnd(
            match["kind"] == "SW", int(match["lid"]), int(match["port"]), int(match["guid"], 16), match["name"]
        ),
        DiscoveredEnd(
            match["kind2"] == "SW", int(match["lid2"]), int(match["port2"]), int(match["guid2"], 16), match["name2"]
        ),
    )


def _table(line: str) -> tuple[tuple[int, int], tuple[int, ...]]:
    place, *rows = line.split()
    lid, _, port = place.partition("/")
    return (int(lid), int(port)), tuple(int(row, 16) for row in rows if int(row, 16))
