"""The strict reading of a certificate, form by form, and what the checker prints and returns when it is run alone."""

from __future__ import annotations

import io
import json
import re
import runpy
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from infra.checker import Malformed, printable, read, require_form
from infra.checker.__main__ import main
from tests.certificate.altering import sealed
from tests.certificate.test_certificate import clean
from tests.certificate.test_form import put


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b'{"a": [1, 2.5, null, true, "x"]}', {"a": [1, 2.5, None, True, "x"]}),
        (b'{"a": {"a": 1}, "b": {"a": 2}}', {"a": {"a": 1}, "b": {"a": 2}}),
        # Both halves of a surrogate pair are one character.
        (b'"\\ud83d\\ude00"', "\N{GRINNING FACE}"),
        (b'"\\\\ud800"', "\\ud800"),
    ],
)
def test_what_is_read(raw: bytes, expected: object) -> None:
    assert read(raw) == expected


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b'{"b": 1, "a": 1, "a": 2, "c": 1}', "the key a stands twice"),
        (b'{"x": {"\\u001b": 1, "\\u001b": 2}}', "the key \\x1b stands twice"),
        (b'"\\ud800"', "not text: it is no UTF-8, or holds half of a surrogate pair"),
        (b'{"\\uDABC": 1}', "not text: it is no UTF-8, or holds half of a surrogate pair"),
        (b"\xff", "not text: it is no UTF-8, or holds half of a surrogate pair"),
        (b"[" * 100_000, "not JSON: nested too deeply"),
        (b"[NaN]", "not JSON: NaN is no number"),
        (b"-Infinity", "not JSON: -Infinity is no number"),
        (b"{", "not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
    ],
)
def test_what_is_refused(raw: bytes, words: str) -> None:
    with pytest.raises(Malformed) as caught:
        read(raw)
    assert str(caught.value) == words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("as it is: ü ☃", "as it is: ü ☃"),
        ("a\x1b[2Jü\nb", "a\\x1b[2Jü\\nb"),
        ("\u202e", "\\u202e"),
        ("x" * 1000, "x" * 1000),
        ("x" * 1000 + "yz", "x" * 1000 + "…"),
        ("x" * 1000 + "y", "x" * 1000 + "…"),
    ],
)
def test_what_is_printed(text: str, expected: str) -> None:
    assert printable(text) == expected


DAY = re.compile(r"[0-9]{2}")
PAIR, WAY = (str, str), ({"reads", "writes"}, str)
MORE = (str, str, ...)


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        (str, ["", "x"], [None, 1, ["x"], {}]),
        (int, [0, -1], [True, 1.0, "1", None]),
        ({True, False, None}, [True, False, None], [0, 1, "", [], "true"]),
        ({"a", "b"}, ["a", "b"], ["c", "", None, ["a"]]),
        (
            date, ["2026-02-28", "2024-02-29", "1999-12-31", "0001-01-01"],
            [
                "2026-02-31", "2026-02-29", "1900-02-29", "0000-00-00", "2026-13-01", "2026-00-01", "2026-01-00",
                "20260101", "2026-W01-1", "2026-1-1", " 2026-01-01", "2026-01-01\n", "2026-01-01T00:00",
                "\uff12026-01-01", "", 20260101, None, ["2026-01-01"],
            ],
        ),
        (DAY, ["12"], ["123", "1", "x12", 12, None]),
        (PAIR, [["a", "b"]], [[], ["a"], ["a", "b", "c"], ["a", 1], "ab", {"a": 1, "b": 2}, None]),
        (WAY, [["reads", "b"]], [["keeps", "b"], ["reads"], [1, "b"], ["reads", 1], ["reads", "b", "c"]]),
        (MORE, [["a", "b"], ["a", "b", "c", "d"]], [["a"], [], ["a", "b", 3], "abc"]),
        ([str], [[], ["a", "b"]], ["ab", {"a": "b"}, None, {}]),
        ({str: int}, [{}, {"a": 1, "b": 2}], [[], [1], None, "a", [["a", 1]]]),
        ({"a": int, "b": str}, [{"a": 1, "b": "x"}], [[], [["a", 1]], None, 3]),
    ],
)  # fmt: skip
def test_what_has_a_form(form: Any, good: list[Any], bad: list[Any]) -> None:
    """By itself, and inside of a list and of an object of this form."""
    for value in good:
        require_form(value, form)
        require_form([value, value], [form])
        require_form({"x": value}, {str: form})
    for value in bad:
        for whole, outer, place in ((value, form, "it"), ([*good, value], [form], f"it.{len(good)}")):
            with pytest.raises(Malformed) as caught:
                require_form(whole, outer)
            assert str(caught.value) == f"{place}: not of its form"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"a": 1}, "it: missing, or not known: b"),
        ({"a": 1, "b": [], "d": 1, "c": 2}, "it: missing, or not known: c, d"),
        ({"b": [], "\x1b": 1}, "it: missing, or not known: \\x1b, a"),
        ({"a": "1", "b": []}, "it.a: not of its form"),
        ({"a": 1, "b": [{"c": "x"}, {"c": 1}]}, "it.b.1.c: not of its form"),
        ({"a": 1, "b": [{"d": "x"}]}, "it.b.0: missing, or not known: c, d"),
    ],
)
def test_where_a_form_is_not_kept_to(value: object, words: str) -> None:
    with pytest.raises(Malformed) as caught:
        require_form(value, {"a": int, "b": [{"c": str}]})
    assert str(caught.value) == words


def test_a_list_is_of_the_first_form_that_stands_in_it() -> None:
    require_form([1, 2], [int, str])
    with pytest.raises(Malformed):
        require_form(["x"], [int, str])


# Run alone.


def answered(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """The exit code, and both outputs."""
    code = main([*words])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_what_it_returns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file.json"
    found = clean()[3][0]
    file.write_text(json.dumps(found))
    code, out, err = answered(capsys, str(file))
    assert (code, err) == (0, "")
    assert out.startswith("sound; edges derived from facts: A1, ")
    file.write_text(json.dumps(sealed(put(found, ("format",), 99))))
    assert answered(capsys, str(file)) == (1, "format 99 is not known\n", "")
    file.write_text(json.dumps(sealed(put(found, ("date",), "9999-01-01"))))
    code, out, err = answered(capsys, str(file))
    assert (code, err) == (1, "")
    assert out.startswith("it is of 9999-01-01, after 2")
    file.write_text("{}")
    code, out, err = answered(capsys, str(file))
    assert (code, out) == (2, "")
    assert err.startswith(f"{file}: it: missing, or not known: boundary, ")


@pytest.mark.parametrize("day", ["2026-02-31", "0000-00-00", "2026-11-31"])
def test_a_day_that_is_none_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], day: str) -> None:
    """Of the certificate, and of a waiver, which would count up to it."""
    file, found = tmp_path / "file.json", clean()[3][0]
    waiver = {"rule": "ISO-07", "owner": "anne", "reason": "known", "expires": day, "state": "used", "findings": 0}
    altered = (
        ("date", put(found, ("date",), day)),
        ("judgement.waivers.0.expires", put(found, ("judgement", "waivers"), [waiver | {"hint": ""}])),
    )
    for place, changed in altered:
        file.write_text(json.dumps(sealed(changed)))
        assert answered(capsys, str(file)) == (2, "", f"{file}: it.{place}: not of its form\n")


def test_what_is_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gone = tmp_path / "gone"
    assert answered(capsys, str(gone)) == (2, "", f"{gone}: No such file or directory\n")
    for words in ((), (str(gone), str(gone))):
        assert answered(capsys, *words) == (2, "", "name one file: python -m infra.checker FILE\n")


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[object, bytes, bytes]:
    """The exit code of the module, run as a script, and what it writes where output is ASCII."""
    buffers = (io.BytesIO(), io.BytesIO())
    streams = [io.TextIOWrapper(buffer, "ascii") for buffer in buffers]
    monkeypatch.setattr(sys, "stdout", streams[0])
    monkeypatch.setattr(sys, "stderr", streams[1])
    monkeypatch.setattr(sys, "argv", ["checker", *words])
    monkeypatch.delitem(sys.modules, "infra.checker.__main__", raising=False)
    with pytest.raises(SystemExit) as caught:
        runpy.run_module("infra.checker", run_name="__main__")
    for stream in streams:
        stream.flush()
    return caught.value.code, buffers[0].getvalue(), buffers[1].getvalue()


def test_as_a_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be encoded is escaped, on both outputs."""
    file = tmp_path / "file.json"
    file.write_text(json.dumps(sealed(put(clean()[3][0], ("statement", "exclusive"), {"☃": []}))))
    assert run(monkeypatch, str(file)) == (1, b"\\u2603 is held by nobody\n", b"")
    gone = tmp_path / "☃"
    assert run(monkeypatch, str(gone)) == (2, b"", f"{tmp_path}/\\u2603: No such file or directory\n".encode())
    assert run(monkeypatch) == (2, b"", b"name one file: python -m infra.checker FILE\n")
