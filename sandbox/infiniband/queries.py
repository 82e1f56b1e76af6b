"""Questions to a subnet, asked with the programs that an operator has: cables, P_Key tables, path records."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
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


class Queries:
    """Asks one fabric, from one of its HCAs. Tables are read by one process, which is kept."""

    def __init__(self, environment: Mapping[str, str], folder: Path, patience: float = 1.0) -> None:
        self._environment = {**os.environ, **environment}
        #: Where programs run: ibsim's library writes `sys-<pid>` there, and leaves it if the program is killed.
        self._folder = folder
        #: Of one program, or of one reading of all tables.
        self._seconds = QUERY_SECONDS * patience
        self._reader: subprocess.Popen[str] | None = None
        self._asking = threading.Lock()

    def close(self) -> None:
        """End the process that reads tables; the next question starts another."""
        with self._asking:
            if self._reader is not None:
                self._reader.kill()
                self._reader.communicate()
                self._reader = None

    def links(self) -> tuple[DiscoveredLink, ...]:
        """Every cable, from either end, found by walking the fabric."""
        text = self._run([program("ibnetdiscover"), "-p"])
        return tuple(_link(match) for line in text.splitlines() if (match := _CABLE.match(line)))

    def tables(self, ports: Iterable[tuple[int, int]]) -> dict[tuple[int, int], tuple[int, ...]]:
        """(LID, port) -> P_Keys in the order of the table, without empty rows. Port 1 of an HCA, any of a switch."""
        words = [f"{lid}/{port}/{TABLE_BLOCKS}" for lid, port in sorted(set(ports))]
        with self._asking:
            lines = self._read(" ".join(words)) if words else []
        return dict(map(_table, lines))

    def path_keys(self, source: int, destination: int) -> tuple[int, ...]:
        """P_Keys of the path records between two LIDs, as the subnet manager answers; () if it has none."""
        words = [program("saquery"), "PR", "--slid", str(source), "--dlid", str(destination)]
        found = re.findall(r"pkey\.+(0x[0-9a-fA-F]+)", self._run(words))
        return tuple(sorted({int(key, 16) for key in found}))

    def ask(self, *words: str) -> str:
        """What a program of infiniband-diags says. Raises SubnetFailed."""
        return self._run([program(words[0]), *words[1:]])

    def _read(self, question: str) -> list[str]:
        """One question to the process that reads tables, and its answer."""
        if self._reader is None or self._reader.poll() is not None:
            self._reader = self._start_reader()
        reader = self._reader
        if reader.stdin is None or reader.stdout is None:
            raise SubnetFailed("the process that reads tables has no input")
        # It asks each port for 0.3 s at most; should it stand still, this ends it, and so the reading below.
        watch = threading.Timer(self._seconds, reader.kill)
        watch.start()
        lines = []
        try:
            reader.stdin.write(f"{question}\n")
            reader.stdin.flush()
            while line := reader.stdout.readline().strip():
                lines.append(line)
        except OSError as error:
            raise SubnetFailed(f"tables cannot be read: {error}") from error
        finally:
            watch.cancel()
        if len(lines) != len(question.split()):
            raise SubnetFailed("the process that reads tables ended in the middle of its answer")
        return lines

    def _start_reader(self) -> subprocess.Popen[str]:
        program_file = str(Path(__file__).with_name("tables.py"))
        return subprocess.Popen(
            [sys.executable, "-I", "-S", program_file],
            env={**self._environment, "LD_PRELOAD": preloaded()},
            cwd=self._folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def _run(self, words: Sequence[str]) -> str:
        environment = {**self._environment, "LD_PRELOAD": preloaded()}
        try:
            done = subprocess.run(
                words,
                env=environment,
                cwd=self._folder,
                capture_output=True,
                text=True,
                check=False,
                timeout=self._seconds,
            )
        except subprocess.TimeoutExpired:
            raise SubnetFailed(f"{Path(words[0]).name} did not answer within {self._seconds:.0f} s") from None
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
    if rows == ["-"]:
        raise SubnetFailed(f"the port at {place} (LID/port) does not answer")
    lid, _, port = place.partition("/")
    return (int(lid), int(port)), tuple(int(row, 16) for row in rows if int(row, 16))
