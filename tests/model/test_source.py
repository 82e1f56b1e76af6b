"""Input files that are hostile rather than wrong."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from interlock.model.text.errors import Code, InputError, InputErrors
from interlock.model.text.source import MOST_BYTES, Source
from interlock.model.text.yaml_reading import REQUEST


def source(text: str, name: str = "x.yaml") -> Source:
    return Source(Path(name), name, text)


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? ", "[{a: "])
def test_deep_nesting_is_refused_before_the_stack_overflows(opening: str) -> None:
    with pytest.raises(InputErrors, match="IN-022 nested too deeply"):
        source(opening * 50_000).value()


def test_a_file_of_many_flat_lists_is_read() -> None:
    text = "\n".join(f"k{number}: [a, {{b: c}}]" for number in range(500))
    assert len(source(text).value()) == 500


def test_a_request_of_many_characters_is_refused() -> None:
    with pytest.raises(InputErrors, match="1000001 characters"):
        source("#" * 1_000_001).value(REQUEST)


def test_a_file_without_end_is_not_read_to_its_end() -> None:
    with pytest.raises(InputErrors, match=f"more than {MOST_BYTES} bytes"):
        Source.read(Path("/dev/zero"), "x.yaml")


#: The largest of each kind that still passes the limit of characters.
HOSTILE = {
    "many values": "a: [" + "x," * 490_000 + "]",
    "many keys": "\n".join(f"k{number}: 1" for number in range(90_000)),
    "many empty mappings": "a: [" + "{}," * 300_000 + "]",
    "a bomb of lists": "".join(
        f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9) if level else 'x'}]\n" for level in range(60)
    ),
    "a bomb of mappings": "".join(
        f"a{level}: &a{level} {{{', '.join(f'k{n}: *a{level - 1}' for n in range(9)) if level else 'x: y'}}}\n"
        for level in range(60)
    ),
    "a bomb of merge keys": "".join(
        f"a{level}: &a{level} {{{f'<<: [*a{level - 1}, *a{level - 1}]' if level else 'x: y'}}}\n" for level in range(60)
    ),
    "an alias inside of itself": "a: &a [b, *a]",
    "a key as long as the file": "a" * 900_000 + ": 1",
    "a number as long as the file": "a: 0x" + "f" * 900_000,
    "a decimal as long as the file": "a: " + "9" * 900_000,
    "sexagesimal without end": "a: 1" + ":59" * 300_000,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_is_hostile_is_refused_within_a_second(kind: str) -> None:
    before = time.process_time()
    with pytest.raises(InputErrors) as raised:
        source(HOSTILE[kind]).value(REQUEST)
    assert time.process_time() - before < 1.0
    assert len(str(raised.value)) < 2_000


def test_an_alias_stands_for_what_it_names() -> None:
    value = source("a: &a {b: [1, 2]}\nc: *a\nd: [*a, *a]").value()
    assert value["c"] == value["a"] == {"b": [1, 2]}
    assert value["d"] == [value["a"]] * 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: !!python/object/apply:os.system [id]", "1:4: IN-022 the tag `!!python/object/apply:os.system`"),
        ("a: !!binary aGk=", "1:4: IN-022 the tag `!!binary`"),
        ("a: !!set {b, c}", "1:4: IN-022 the tag `!!set`"),
        ("a: !own b", "1:4: IN-022 the tag `!own`"),
        ("a: {<<: {b: c}}", "1:5: IN-022 `<<` is not read here"),
        ("a: &x 1\nb: &x 2", "2:4: IN-022 an anchor (`&name`) that is there twice"),
        ("a: *x", "1:4: IN-022 an alias (`*name`) of nothing"),
        ("a: 2026-13-45", "1:4: IN-022 `2026-13-45` looks like a date and is none"),
        ("a: !!int x", "1:4: IN-022 `x` looks like a number and is none"),
        ("a: 0b_", "1:4: IN-022 `0b_` looks like a number and is none"),
        ("{[a]: b}", "1:2: IN-022 a key that is no text"),
        ("a: b\n  c\0: d", "2:4: IN-022 the character U+0000, which YAML does not allow"),
        ("a: \x1b[2J", "1:4: IN-022 the character U+001B, which YAML does not allow"),
        ("a: 1\n---\nb: 2", "2:1: IN-022 a second document after `---`"),
        ("a: 1\na: 2", "2:1: IN-024 `a` is there twice"),
        ("# nothing but this", "1:1: IN-023 the file is empty"),
        ("~", "1:1: IN-023 the file is empty"),
    ],
)
def test_what_is_refused(text: str, words: str) -> None:
    with pytest.raises(InputErrors) as raised:
        source(text).value()
    assert str(raised.value).splitlines()[0] == f"x.yaml:{words}"


SCALARS = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=20) | st.dates()
VALUES = st.recursive(
    SCALARS, lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=9), below, max_size=4)
)


@given(VALUES.filter(lambda value: value is not None))
def test_values_are_those_of_pyyaml(value: Any) -> None:
    text = yaml.safe_dump(value)
    assert source(text).value() == yaml.safe_load(text) == value


JSON = st.recursive(
    st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(-(10**30), 10**30)
    | st.text("1e-5. :#é\\ud8\U0001f600", max_size=9),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("1e-5. :#é\\ud8\U0001f600", max_size=9), inner),
)


@given(JSON)
def test_a_json_file_has_the_values_that_json_says(value: Any) -> None:
    """JSON writes a small number as `1e-12`, which has no point, and so is a text to YAML 1.1; and escapes what lies
    beyond U+FFFF as two, of which YAML knows neither.
    """
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
        assert source(text, "x.json").value() == json.loads(text) == value


def test_positions_in_a_json_file_with_escapes() -> None:
    found = source('{"a": "\\ud83d\\ude00",\n "b": "\\\\ud83d"}', "x.json")
    assert found.value() == {"a": "\U0001f600", "b": "\\ud83d"}
    assert found.position(("b",)) == "x.json:2:7"


def test_a_number_without_a_point_is_a_text_of_yaml() -> None:
    """A serial number may look like one: only in JSON does what is a text stand in quotes."""
    assert source("a: 60e12").value() == {"a": "60e12"}
    assert source('{"a": 60e12, "b": "60e12"}', "x.json").value() == {"a": 60e12, "b": "60e12"}


def test_positions_of_values_keys_and_what_is_not_there() -> None:
    found = source("a:\n  - b: 1\n    c: [x, y]\n")
    assert found.position(("a", 0, "c", 1)) == "x.yaml:3:12"
    assert found.position(("a", 0, "c"), key=True) == "x.yaml:3:5"
    assert found.position(("a", 0, "c", "[key]")) == "x.yaml:3:5"
    assert found.position(("a", 0, "missing", "deeper")) == "x.yaml:2:5"
    assert found.position(("nothing",)) == "x.yaml:1:1"


def test_messages_cannot_move_the_cursor() -> None:
    error = InputError(Code.NAME, "x.yaml:1:1", "`a\x1b[2J\nb` is no name", "")
    assert str(error) == "x.yaml:1:1: IN-006 `a\\x1b[2J\\nb` is no name"
