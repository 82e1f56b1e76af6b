"""All faults of a request in one pass: those of form, and those of meaning that do not follow from them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from interlock.model.load import InputErrors
from interlock.model.tenant.file import TenantFile
from interlock.model.text.errors import MOST_TOLD
from interlock.model.text.faults import Faults
from interlock.model.text.salvage import Salvage
from interlock.model.text.source import Source
from interlock.model.text.validation import FileModel, nearest, well_formed
from tests.model.test_tenant import TEN_LINES, workspace


def told(folder: Path, text: str) -> list[str]:
    """First lines of all faults, without the file's name."""
    with pytest.raises(InputErrors) as raised:
        workspace(folder, text)
    return [str(error).splitlines()[0].partition("acme.yaml:")[2] for error in raised.value.errors]


def test_a_wrong_unit_does_not_hide_a_wrong_size(tmp_path: Path) -> None:
    text = TEN_LINES.replace("machines: 4", "ipus: 12") + "    poplar: {volume: 100GB, image: debian}\n"
    assert told(tmp_path, text) == [
        "10:11: IN-004 12 IPUs: a vPOD has 1, 2, 4, 8, 16 … IPU-Machines of 4 IPUs; ask for 8 or 16",
        "11:22: IN-005 `100GB`: GB is not a unit here",
        "11:36: IN-008 `debian` is not an image of this site",
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("machines: 4", "machines: four"),
        ("machines: 4", "machine: 4"),
        ("train:", "Train:"),
        ("name: Acme", "nmae: Acme"),
        ("name: Acme", "name: 7"),
        ("vpods:", "vpdos:"),
        ("  ssh_public_key", "  public_key"),
    ],
)
def test_nothing_is_told_that_follows_from_a_fault_of_form(tmp_path: Path, old: str, new: str) -> None:
    assert old in TEN_LINES
    pins = "pins: {train: {machines: [ipum-01, ipum-02, ipum-03, ipum-04]}}\n"
    found = told(tmp_path, TEN_LINES.replace(old, new) + pins)
    assert {line.split()[1] for line in found} <= {"IN-001", "IN-002", "IN-003", "IN-006", "IN-007"}


def test_positions_are_those_of_the_file_although_a_list_lost_an_item(tmp_path: Path) -> None:
    members = "access:\n  members:\n    - bob\n    - 7\n    - anne\n    - 8\n    - anne\n"
    assert told(tmp_path, TEN_LINES.replace("access:\n", members)) == [
        "8:7: IN-003 `7` is not a text", "10:7: IN-003 `8` is not a text", "11:7: IN-009 `anne` is there twice",
    ]  # fmt: skip


def test_aliases_lose_their_faulty_parts_one_by_one(tmp_path: Path) -> None:
    text = TEN_LINES.replace("machines: 4\n", "<<\n").replace("    <<\n", "    &one {ipus: 12, poplar: {servers: x}}\n")
    assert told(tmp_path, f"{text}  serve: *one\n") == [
        "10:17: IN-004 12 IPUs: a vPOD has 1, 2, 4, 8, 16 … IPU-Machines of 4 IPUs; ask for 8 or 16",
        "10:17: IN-004 12 IPUs: a vPOD has 1, 2, 4, 8, 16 … IPU-Machines of 4 IPUs; ask for 8 or 16",
        "10:39: IN-003 `servers` is `x`, not a whole number",
        "10:39: IN-003 `servers` is `x`, not a whole number",
    ]


def test_salvage_keeps_count_of_what_moved_up() -> None:
    salvage = Salvage({"a": [0, 1, 2, 3, 4], "b": {"c": 1, "d": 2}})
    assert salvage.take_out({("a", 1): Salvage.NOTHING, ("a", 3): Salvage.NOTHING, ("b", "c"): Salvage.NOTHING})
    assert salvage.value == {"a": [0, 2, 4], "b": {"d": 2}}
    assert [salvage.original(("a", index)) for index in range(3)] == [("a", 0), ("a", 2), ("a", 4)]
    assert salvage.touches(("b",))
    assert not salvage.touches(("b", "d"))
    assert salvage.take_out({("a", 1): Salvage.NOTHING})
    assert salvage.value["a"] == [0, 4]
    assert salvage.original(("a", 1)) == ("a", 4)
    assert not salvage.take_out({(): Salvage.NOTHING})


def test_stand_ins_have_the_right_form() -> None:
    """A stand-in that were at fault itself would hide all faults of meaning."""
    form = well_formed(TenantFile, Source(Path("x.yaml"), "x.yaml", "access: {}\nvpods: {a: {machines: 5}}"))
    assert form.file is not None
    assert [error.code for error in form.errors] == ["IN-002"]
    faults = Faults.of(form)
    assert faults.lost("name")
    assert not faults.lost("vpods", "a", "machines")


def test_a_model_without_stand_ins_gives_nothing() -> None:
    class Strict(FileModel):
        """One required key."""

        number: int

    form = well_formed(Strict, Source(Path("x.yaml"), "x.yaml", "nubmer: 1"))
    assert form.file is None
    assert len(form.errors) == 2


#: Requests with thousands of faults.
MANY = {
    "keys": "".join(f"k{number}: 1\n" for number in range(9_000)),
    "buckets": "buckets:\n" + "".join(f"  b{number}: {number}\n" for number in range(9_000)),
    "vpods": "volumes:\n" + "".join(f"  v{n}: {{size: 1TiB, vpod: w{n}}}\n" for n in range(4_000)),
    "pins": "pins:\n  train: {machines: [" + ", ".join(['"m-[0001-4096]"'] * 20_000) + "]}\n",
    "names": "pins:\n  train: {machines: [" + ", ".join(f"x{n}" for n in range(20_000)) + "]}\n",
    "one name": "pins:\n  train: {machines: [" + "x" * 500_000 + "]}\n",
    "parts": "volumes:\n" + "".join(f"  train-ipu{n}: {{size: 1TiB, type: fast}}\n" for n in range(4_000)),
}


@pytest.mark.parametrize("kind", MANY)
def test_thousands_of_faults_are_told_in_short(tmp_path: Path, kind: str) -> None:
    before = time.process_time()
    found = told(tmp_path, TEN_LINES + MANY[kind])
    assert time.process_time() - before < 2.0
    assert len(found) <= 2 * MOST_TOLD + 2
    assert max(map(len, found)) < 1_200


def test_hints_from_thousands_of_names() -> None:
    known = [f"rack-{rack:03}-ipum-{position:02}" for rack in range(700) for position in range(1, 17)]
    assert nearest("rack-345-ipmu-07", known) == "did you mean `rack-345-ipum-07`?"
    assert nearest("x", known).endswith(" and 11170 more")
    assert nearest("x" * 1_000_000, ["a"]) == "there are: a"
