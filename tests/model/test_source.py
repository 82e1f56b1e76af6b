"""Input files that are hostile rather than wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlock.model.errors import Code, InputError, InputErrors
from interlock.model.source import Source


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? ", "[{a: "])
def test_deep_nesting_is_refused_before_the_stack_overflows(opening: str) -> None:
    source = Source(Path("x.yaml"), "x.yaml", opening * 50_000)
    with pytest.raises(InputErrors, match="IN-022 nested too deeply"):
        source.value()


def test_a_file_of_many_flat_lists_is_read() -> None:
    text = "\n".join(f"k{number}: [a, {{b: c}}]" for number in range(500))
    assert len(Source(Path("x.yaml"), "x.yaml", text).value()) == 500


def test_an_endless_file_is_refused() -> None:
    with pytest.raises(InputErrors, match="1000001 characters"):
        Source(Path("x.yaml"), "x.yaml", "#" * 1_000_001).value()


def test_no_python_objects_are_made() -> None:
    source = Source(Path("x.yaml"), "x.yaml", "a: !!python/object/apply:os.system [id]")
    with pytest.raises(InputErrors, match="1:4: IN-022 not YAML: could not determine a constructor"):
        source.value()


def test_positions_of_values_keys_and_what_is_not_there() -> None:
    source = Source(Path("x.yaml"), "x.yaml", "a:\n  - b: 1\n    c: [x, y]\n")
    assert source.position(("a", 0, "c", 1)) == "x.yaml:3:12"
    assert source.position(("a", 0, "c"), key=True) == "x.yaml:3:5"
    assert source.position(("a", 0, "c", "[key]")) == "x.yaml:3:5"
    assert source.position(("a", 0, "missing", "deeper")) == "x.yaml:2:5"
    assert source.position(("nothing",)) == "x.yaml:1:1"


def test_messages_cannot_move_the_cursor() -> None:
    error = InputError(Code.NAME, "x.yaml:1:1", "`a\x1b[2J\nb` is no name", "")
    assert str(error) == "x.yaml:1:1: IN-006 `a\\x1b[2J\\nb` is no name"
