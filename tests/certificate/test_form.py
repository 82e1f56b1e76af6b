"""What is no certificate is refused in one line, whatever is in it: by the function and by the checker run alone."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import infra.checker
from infra.checker import FORM, Malformed, complaints, digest, read
from tests.certificate.altering import sealed
from tests.certificate.test_certificate import clean
from tests.support.sampling import Sampling

Found = dict[str, Any]
CHECKER = Path(infra.checker.__file__).parent

#: What somebody puts in place of a part of a certificate.
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 10**4000, 1.5, 1e308, "", "x", "\033[31m", "a\nb", "\ud800", "\u202e", [], [None], [[]],
    [["a", "b", "c"]], {}, {"": None}, {"a": [1]}, ["write"], {"a": {"b": {"c": {}}}},
)  # fmt: skip
#: The same as text, which is no JSON of ours or no JSON at all.
RAW = (
    b"NaN",
    b"Infinity",
    b"1e999",
    b"-0",
    b'"\\ud800"',
    b"\xff",
    b"[" * 5000,
    b'{"a":1,"a":2}',
    b"",
    b",",
    b"9" * 5000,
)


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every part of a document, itself not among them."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*at, key)
        yield from places(item, (*at, key))


def put(found: Found, way: tuple[Any, ...], value: Any) -> Found:
    """A copy with one part replaced."""
    copy: Found = json.loads(json.dumps(found))
    part: Any = copy
    for key in way[:-1]:
        part = part[key]
    part[way[-1]] = value
    return copy


def _part(found: Found, way: tuple[Any, ...]) -> Any:
    for key in way:
        found = found[key]
    return found


def _replaced(found: Found, chance: random.Random, ways: list[tuple[Any, ...]]) -> bytes:
    return json.dumps(put(found, chance.choice(ways), chance.choice(ODD))).encode()


def _removed(found: Found, chance: random.Random, ways: list[tuple[Any, ...]]) -> bytes:
    way = chance.choice(ways)
    copy = put(found, way, None)
    del _part(copy, way[:-1])[way[-1]]
    return json.dumps(copy).encode()


def _swapped(found: Found, chance: random.Random, ways: list[tuple[Any, ...]]) -> bytes:
    return json.dumps(put(found, chance.choice(ways), _part(found, chance.choice(ways)))).encode()


def _raw(found: Found, chance: random.Random, ways: list[tuple[Any, ...]]) -> bytes:
    text = json.dumps(put(found, chance.choice(ways), "HERE")).encode()
    return text.replace(b'"HERE"', chance.choice(RAW), 1)


def _bytes(found: Found, chance: random.Random, _: list[tuple[Any, ...]]) -> bytes:
    text = bytearray(json.dumps(found).encode())
    for _time in range(chance.choice((1, 1, 5))):
        text[chance.randrange(len(text))] = chance.choice(b'{}[],:"\\0\x00\x1b\xff')
    return bytes(text)


MUTATIONS: tuple[Callable[[Found, random.Random, list[tuple[Any, ...]]], bytes], ...] = (
    _replaced, _replaced, _removed, _swapped, _raw, _bytes,
)  # fmt: skip


def shallow(ways: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Sections and single values of a certificate as often as all its many rows together."""
    few = [way for way in ways if len(way) < 3]
    return few * (1 + len(ways) // max(1, len(few))) + ways


def answer(raw: bytes) -> list[str] | None:
    """The complaints; None: refused, in one line that a terminal can show."""
    refused, words = False, []
    try:
        words = list(complaints(read(raw)))
    except Malformed as error:
        refused, words = True, [str(error)]
    assert all(word.isprintable() and len(word) < 1500 for word in words)
    return None if refused else words


def test_a_mutated_certificate_is_never_a_traceback_and_never_sound(sampling: Sampling) -> None:
    """Sealed or not: without its digests made again, a changed statement is told."""
    found, proof = clean()[3]
    ways = shallow(list(places(found)))
    for seed in sampling.cases("certificates of another form"):
        chance = random.Random(seed)
        raw = chance.choice(MUTATIONS)(found, chance, ways)
        words = answer(raw)
        if words is None:
            continue
        changed = json.loads(raw)
        if changed != found:
            assert words, seed
        again = answer(json.dumps(sealed(changed)).encode())
        if changed["statement"] != found["statement"] and again is not None:
            assert list(complaints(sealed(changed), proof)), seed


def test_a_number_too_long_for_a_float_is_told() -> None:
    assert answer(json.dumps(put(clean()[3][0], ("format",), 10**4000)).encode())


@pytest.mark.parametrize("key", sorted(FORM))
def test_a_missing_section_is_named(key: str) -> None:
    found, _ = clean()[3]
    with pytest.raises(Malformed, match=f"it: missing, or not known: {key}"):
        list(complaints({name: part for name, part in found.items() if name != key}))


def test_an_unknown_section_is_refused() -> None:
    found, _ = clean()[3]
    with pytest.raises(Malformed, match="comment"):
        list(complaints(found | {"comment": "trust me"}))


def test_a_number_that_is_a_truth_is_refused() -> None:
    found = put(clean()[3][0], ("format",), True)
    with pytest.raises(Malformed, match=r"it\.format"):
        list(complaints(sealed(found)))


def test_a_guard_of_one_is_no_guard() -> None:
    """Of another type than the form says, though Python takes 1 for true."""
    found = clean()[3][0]
    guard = min(found["statement"]["guards"])
    with pytest.raises(Malformed, match=r"it\.statement\.guards"):
        list(complaints(sealed(put(found, ("statement", "guards", guard), 1))))


def alone(*words: str) -> subprocess.CompletedProcess[str]:
    """A copy of the checker's folder where nothing of ours can be imported, run with output that is ASCII."""
    environment = {"PYTHONIOENCODING": "ascii", "PYTHONDONTWRITEBYTECODE": "1"}
    with TemporaryDirectory() as folder:
        shutil.copytree(CHECKER, Path(folder) / "checker")
        command = [sys.executable, "-s", "-S", "-m", "checker", *words]
        return subprocess.run(
            command, check=False, text=True, capture_output=True, cwd=folder, env=environment, timeout=60
        )


@pytest.mark.parametrize(
    ("raw", "code", "words"),
    [
        (b"{}", 2, "missing, or not known"),
        (b'{"\\ud800": 1}', 2, "surrogate"),
        (b'{"\\u001b[2J": 1}', 2, "not known"),
        ("{\"\u2603\": 1}".encode(), 2, "not known"),
        (b"[" * 100_000, 2, "nested too deeply"),
        (None, 2, "No such file"),
    ],
)  # fmt: skip
def test_run_alone(tmp_path: Path, raw: bytes | None, code: int, words: str) -> None:
    file = tmp_path / "file.json"
    if raw is not None:
        file.write_bytes(raw)
    done = alone(str(file))
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stderr.rstrip("\n").isprintable()


@pytest.mark.parametrize("table", ["gateways", "terminals"])
def test_run_alone_a_declaration_that_is_none_is_one_line(tmp_path: Path, table: str) -> None:
    """A copy of what the site does not declare, and a guard of it that is said to hold."""
    file, found = tmp_path / "file.json", json.loads(json.dumps(clean()[3][0]))
    found["statement"]["ground"][table].append(["dev:T@7", "dev:T", "ghost"])
    found["statement"]["guards"]["sharing.ghost.guards.a kind that is known"] = True
    file.write_text(json.dumps(sealed(found)))
    done = alone(str(file))
    assert (done.returncode, done.stdout) == (2, "")
    undeclared = "dev:T" if table == "gateways" else "ghost"
    assert done.stderr == f"{file}: statement.ground: {undeclared} is no declaration\n"


def test_run_alone_it_says_what_is_sound_and_what_is_not(tmp_path: Path) -> None:
    file = tmp_path / "file.json"
    file.write_text(json.dumps(clean()[3][0]))
    done = alone(str(file))
    assert (done.returncode, done.stderr) == (0, "")
    derived, stated = done.stdout.removeprefix("sound; edges derived from facts: ").split("; stated as edges: ")
    assert {"A1", "A10", "E15", "E18"} <= {*derived.split(", ")}
    assert {"E6", "E7"} <= {*stated.strip().split(", ")}
    file.write_text(json.dumps(put(clean()[3][0], ("judgement", "stack"), "\033[2J")))
    done = alone(str(file))
    assert (done.returncode, done.stderr) == (1, "")
    assert "the digest is not that of the certificate" in done.stdout
    assert alone().returncode == alone(str(file), str(file)).returncode == 2


def grown(size: int) -> Found:
    """A certificate of one class for each of so many tenants, with as many held edges, some of one class."""
    found: Found = json.loads(json.dumps(clean()[3][0]))
    said, classes = found["statement"], found["classes"]
    said["facts"]["E9"] = said["facts"].get("E9", [])
    for number in range(size):
        wire, device = f"L:T{number}:7", f"dev:T{number}/rnic"
        classes |= {wire: [wire, ""], device: [wire, wire]}
        said["facts"]["E9"].append([wire, device])
        said["labels"] |= {device: [f"t{number}"]}
        said["ground"]["machines"].append([f"T{number}"])
    return sealed(found)


def test_checking_takes_time_in_proportion() -> None:
    """Eight times as large: at most twenty times as long. When labels were read again for each held edge, sixty."""
    seconds = []
    for size in (500, 4000):
        found = grown(size)
        begun = time.process_time()
        assert list(complaints(found)) == []
        seconds.append(time.process_time() - begun)
    assert seconds[1] < 20 * seconds[0], seconds


def test_the_digest_is_that_of_the_proof() -> None:
    found = clean()[0][0]
    assert digest(found["statement"]) == found["judgement"]["statement"]
