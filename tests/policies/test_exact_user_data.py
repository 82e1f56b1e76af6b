"""Every text that is found in a small document: where it begins, what it was taken out of, and what stays closed."""

from __future__ import annotations

import bz2
import gzip
import lzma
from base64 import urlsafe_b64encode
from email.mime.text import MIMEText
from itertools import pairwise

import pytest

from policies.facts import user_data
from policies.facts.user_data import DEEPEST, MOST_CHARACTERS, MOST_PIECES, contents, fetches_keys, login_keys
from tests.builders.pod64 import ssh_key
from tests.policies.test_user_data import b64, mime, quoted_printable

HELLO = "hello, world"
PACKED = gzip.compress(HELLO.encode(), mtime=0)
#: Compressed data that ends too early: its text is longer than what came out.
TORN = gzip.compress(b"".join(b"%d." % number for number in range(400)), mtime=0)[:400]
Found = tuple[int, tuple[str, ...], str]


def pieces(document: str) -> list[Found]:
    """(line, layers, text) of everything that is in a document, and is not the document."""
    found = contents(document)
    assert (found.pieces[0].line, found.pieces[0].layers, found.pieces[0].text) == (1, (), document)
    assert found.closed == ()
    return [(piece.line, piece.layers, piece.text) for piece in found.pieces[1:]]


def below(text: str) -> str:
    """The text on the third line, as a word among others; dots are in no alphabet of base64."""
    return f"#.\n#.\necho. {text} | .\n"


INNER = f"#.\n#.\n. {b64('and so it is')}"


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (below(b64(HELLO)), [(3, ("base64",), HELLO)]),
        ("\n. " + b64(HELLO), [(2, ("base64",), HELLO)]),
        # Twelve characters of an alphabet are a word, eleven are none.
        (below("aGVsbG8gYWxs"), [(3, ("base64",), "hello all")]),
        (below("aGVsbG8gYWx"), []),
        # Up to the first `=`, and of a lone last digit nothing.
        (below("aGVsbG8gYWxsIQ=="), [(3, ("base64",), "hello all!")]),
        (below("aGVsbG8gYWxsQ"), [(3, ("base64",), "hello all")]),
        (below(urlsafe_b64encode(b"??>>??>>??>>").decode()), [(3, ("base64",), "??>>??>>??>>")]),
        # UTF-16, and one inside another: a text in a text begins where that does.
        (below(b64("hi there".encode("utf-16-le"))), [(3, ("base64",), "hi there")]),
        (below(b64(INNER)), [(3, ("base64",), INNER), (3, ("base64", "base64"), "and so it is")]),
        # The same text is found once, where it is nearest.
        (f"{below(b64(HELLO))}{below(b64(HELLO))}", [(3, ("base64",), HELLO)]),
    ],
)
def test_words(document: str, expected: list[Found]) -> None:
    assert pieces(document) == expected


def test_lines_below_each_other() -> None:
    """From its first line on, and from each of the three after it: a word before a block may look like one of it."""
    whole = b64("".join(f"line {number:02} of it, " for number in range(20)))
    lines = [whole[at : at + 40] for at in range(0, 200, 40)]
    block = "\n".join(["#.", "x. " + lines[0], *lines[1:], ".", "#."])
    assert len(lines) == 5
    found = [item for item in pieces(block) if len(item[2]) > 40]
    starts = [line for line, _, _ in found]
    assert starts == [2, 3, 4, 5]
    assert {layers for _, layers, _ in found} == {("base64",)}
    # The block from its first line on is all of it; each start after it lacks the lines before.
    assert found[0][2].startswith("line 00 of it, line 01")
    assert [len(text) for _, _, text in found] == sorted((len(text) for _, _, text in found), reverse=True)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("content: aGVsbG8s\n  IHdvcmxk\n", [(1, ("base64",), HELLO)]),
        ("#.\ncontent: aGVsbG8s\n  IHdvcmxk\n#.\n", [(2, ("base64",), HELLO)]),
        ("a. b. aGVsbG8s\n  IHdvcmxk\n", [(1, ("base64",), HELLO)]),
        # What stands before the block is no part of it.
        ("x. <<END\naGVsbG8s\nIHdvcmxk\n.\n", [(1, ("base64",), HELLO)]),
        ("x. <<.\naGVsbG8s\nIHdvcmxk\n.\n", [(1, ("base64",), HELLO)]),
        # Several blocks, the last of one line.
        (
            "<.\naGVsbG8s\nIHdvcmxk\n.\n.\naGkg\ndGhlcmUh\n.\naGkg\n.\n",
            [(1, ("base64",), HELLO), (5, ("base64",), "hi there!"), (8, ("base64",), "hi ")],
        ),
        ("", []),
        ("\n\n", []),
    ],
)
def test_blocks(document: str, expected: list[Found]) -> None:
    assert pieces(document) == expected


YAML = ("YAML value",)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ('- "a\\tb"\n- {k: v., 3.: [w.]}\n', [(2, "w."), (2, "3."), (2, "v."), (2, "k"), (1, "a\tb")]),
        # What its encoding says; without one, or with one that is no text, it is as it stands.
        (
            "- encoding: b64\n  content: aGVsbG8=\n",
            [(2, "aGVsbG8="), (2, "content"), (1, "b64"), (1, "encoding"), (2, "hello")],
        ),
        ("- encoding: x.\n  content: hi.\n", [(2, "hi."), (2, "content"), (1, "x."), (1, "encoding")]),
        ("- encoding: b64\n", [(1, "b64"), (1, "encoding")]),
        ("- encoding: b64\n  content: [aGVsbG8=]\n", [(2, "aGVsbG8="), (2, "content"), (1, "b64"), (1, "encoding")]),
        ("- encoding: [b64]\n  content: aGVsbG8=\n", [(1, "b64"), (1, "encoding"), (2, "aGVsbG8="), (2, "content")]),
        ("# encoding\n- content: aGVsbG8=\n", [(2, "aGVsbG8="), (2, "content")]),
        ('#.\nk.: !!binary "aGVs bG8="\n', [(2, "hello"), (2, "k.")]),
        # No document, or nothing that YAML says otherwise than its text: not read.
        ("encoding: [\n", []),
        ("- a.\n- b.\n", []),
        ("encoding: &a [x., *a]\n", [(1, "x."), (1, "encoding")]),
        ("# encoding\n", []),
    ],
)
def test_values_of_yaml(document: str, expected: list[tuple[int, str]]) -> None:
    found = [(line, text) for line, layers, text in pieces(document) if layers == YAML]
    assert sorted(found) == sorted(expected)


def test_a_file_that_is_packed_as_text() -> None:
    """`encoding: gz` with escapes: its characters are the bytes."""
    escaped = "".join(f"\\x{byte:02x}" for byte in PACKED)
    document = f'#.\n- encoding: gz\n  content: "{escaped}"\n'
    assert (3, ("YAML value", "gzip"), HELLO) in pieces(document)
    encoded = f"#.\n- encoding: gz+b64\n  content: {b64(PACKED)}\n"
    assert (3, ("base64", "gzip"), HELLO) in pieces(encoded)


def test_parts_of_mime() -> None:
    """The lines before a part count; what has no transfer encoding of its own is as it stands."""
    text = "the password is not here\nnor there"
    assert [item for item in pieces(quoted_printable(text)) if item[1] == ("MIME part",)] == [(5, ("MIME part",), text)]
    assert [item for item in pieces("Content-Type: text/plain\n\na=3Db.\n") if item[1] != ("base64",)] == []
    part = "Content-Transfer-Encoding: x.\n\n.\n"
    assert [item for item in pieces("\n" + part) if item[1] == ("MIME part",)] == [(2, ("MIME part",), part)]
    # Where its text is found nowhere, since it was of no known encoding, it begins where the document does.
    assert (1, ("MIME part",), f"{part[:-1]}\ufffd\n") in pieces(f"\n{part[:-1]}\udcff\n")
    two = mime(MIMEText("ü" * 9, "plain", "utf-8"), MIMEText("as it is.", "plain", "us-ascii"))
    parts = [item for item in pieces(two) if item[1] == ("MIME part",)]
    assert [(two.split("\n")[line - 1], found) for line, _, found in parts] == [("as it is.", "as it is.")]


@pytest.mark.parametrize(
    ("data", "name"),
    [(PACKED, "gzip"), (bz2.compress(HELLO.encode()), "bzip2"), (lzma.compress(HELLO.encode()), "xz")],
)
def test_what_is_compressed(data: bytes, name: str) -> None:
    assert pieces(below(b64(data))) == [(3, ("base64", name), HELLO)]
    twice = gzip.compress(data, mtime=0)
    assert pieces(below(b64(twice))) == [(3, ("base64", "gzip", name), HELLO)]


def test_members_of_gzip() -> None:
    """All of them are one text; what follows the last is left alone."""
    members = gzip.compress(b"one, ", mtime=0) + gzip.compress(b"two", mtime=0)
    for data in (members, members + b"anything"):
        assert pieces(below(b64(data))) == [(3, ("base64", "gzip"), "one, two")]


def test_a_document_that_is_gzip_itself() -> None:
    assert (1, ("gzip",), HELLO) in pieces(PACKED.decode("latin-1"))


@pytest.mark.parametrize(
    ("data", "name", "begins"),
    [
        (TORN, "gzip", "0.1.2.3."),
        (PACKED[:10] + b"\xff" * 8, "gzip", ""),
        (gzip.compress(b"one, ", mtime=0) + TORN, "gzip", "one, 0.1.2."),
        (bz2.compress(HELLO.encode() * 50)[:30], "bzip2", ""),
        (b"BZh" + b"x" * 20, "bzip2", ""),
        (lzma.compress(HELLO.encode() * 50)[:40], "xz", "hello,"),
        (b"\xfd7zXZ\0" + b"x" * 20, "xz", ""),
    ],
)
def test_what_is_torn_is_told(data: bytes, name: str, begins: str) -> None:
    """What came out of it all the same is looked into."""
    found = contents(below(b64(data)))
    assert found.closed == ((3, f"its {name} cannot be unpacked"),)
    (piece,) = (item for item in found.pieces if item.layers == ("base64", name))
    assert piece.text.startswith(begins)
    assert bool(piece.text) is bool(begins)


def test_the_first_line_of_what_is_whole_is_not_torn() -> None:
    """A block is taken as a whole, and its first line by itself, too."""
    text = b64(gzip.compress(b"".join(b"%d." % number for number in range(60)), mtime=0))
    lines = "\n  ".join(text[at : at + 40] for at in range(0, len(text), 40))
    assert contents(f"content: {lines}\n").closed == ()
    other = b64(gzip.compress(b"and another" * 3, mtime=0)[:25])
    assert contents(f"content: {lines}\n. {other}\n").closed == (
        (2 + lines.count("\n"), "its gzip cannot be unpacked"),
    )


@pytest.mark.parametrize(("tail", "closed"), [(b"xx", ()), (b"xxx", ((2, "its gzip cannot be unpacked"),))])
def test_the_last_two_bytes_of_a_part_may_be_others(tail: bytes, closed: tuple[tuple[int, str], ...]) -> None:
    data = gzip.compress(b"and another" * 3, mtime=0)
    assert contents(f". {b64(data)} .\n. {b64(data[:20] + tail)} .\n").closed == closed


TOO_MUCH = "too much is packed into it, or too deep"


def layered(count: int) -> str:
    """A text in so many layers of base64 that no two of them are alike."""
    text = "the innermost text."
    for _ in range(count):
        text = f"#. {b64(text)}"
    return text


@pytest.mark.parametrize(("layers", "closed"), [(DEEPEST, ()), (DEEPEST + 1, ((1, TOO_MUCH),))])
def test_how_deep_it_looks(layers: int, closed: tuple[tuple[int, str], ...]) -> None:
    found = contents(layered(layers))
    assert found.closed == closed
    assert [len(piece.layers) for piece in found.pieces] == [*range(DEEPEST + 1)]


def bomb(size: int) -> str:
    """A short document with a text of this size in it."""
    return below(b64(gzip.compress(b"." * size, mtime=0)))


@pytest.mark.parametrize("more", [0, 1])
def test_how_much_it_takes_out(more: int) -> None:
    """The document and all texts in it together."""
    size = MOST_CHARACTERS - len(bomb(MOST_CHARACTERS - 1500)) + more
    assert len(bomb(size)) == len(bomb(MOST_CHARACTERS - 1500)) < 3000
    found = contents(bomb(size))
    assert found.closed == (((3, TOO_MUCH),) if more else ())
    assert len(found.pieces) == (1 if more else 2)


@pytest.mark.parametrize("size", [MOST_CHARACTERS + 1, 3 * MOST_CHARACTERS])
def test_a_bomb_is_not_looked_into(size: int) -> None:
    """Nor called torn, since there is more of it than was unpacked."""
    found = contents(bomb(size))
    assert (found.closed, len(found.pieces)) == (((3, TOO_MUCH),), 1)


def test_compressed_again_and_again() -> None:
    """However often: nothing is raised."""
    data = HELLO.encode()
    for _ in range(1500):
        data = gzip.compress(data, compresslevel=0, mtime=0)
    found = contents(below(b64(data)))
    assert (found.closed, len(found.pieces)) == (((3, TOO_MUCH),), 1)


def test_what_is_torn_below_all_that_is_looked_into() -> None:
    """It is opened, told, and what came out is too deep."""
    text = f"#. {b64(TORN)}"
    for _ in range(DEEPEST):
        text = f"#. {b64(text)}"
    assert contents(text).closed == ((1, TOO_MUCH), (1, "its gzip cannot be unpacked"))


def test_many_texts_that_are_too_much_together() -> None:
    """Two that are each less than the bound; the first is taken."""
    two = [b64(gzip.compress(letter * (MOST_CHARACTERS - 4000), mtime=0)) for letter in (b".", b",")]
    found = contents(f"#. {two[0]}\n#. {two[1]}\n")
    assert found.closed == ((2, TOO_MUCH),)
    assert [piece.text[:1] for piece in found.pieces] == ["#", "."]
    # A document is never too long to be looked into by itself.
    assert contents("." * (MOST_CHARACTERS + 1)).closed == ()


def test_how_many_texts_it_takes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as the bound, the document among them."""
    assert MOST_PIECES == 16_384
    monkeypatch.setattr(user_data, "MOST_PIECES", 4)
    words = [f". {b64(f'{number:06}...')} .\n" for number in range(4)]
    assert contents("".join(words[:3])).closed == ()
    found = contents("".join(words))
    assert (found.closed, len(found.pieces)) == (((4, TOO_MUCH),), 4)


def test_keys_in_all_of_a_document() -> None:
    """Each once, in the order of their fingerprints, wherever they stand."""
    keys = [ssh_key(name) for name in ("anne", "bob", "carol")]
    found = login_keys(f"#.\n{keys[0]}\n{keys[1]}\n{below(b64(keys[2]))}{keys[0]}\n")
    assert len(found) == 3
    assert all(a < b for a, b in pairwise(found))
    assert {*found} == {key for text in keys for key in login_keys(text)}
    assert login_keys("no key") == ()


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("ssh_import_id: [gh:anne]\n", True),
        ("#include\nhttps://keys.example/x\n", True),
        (below(b64("#include\nhttps://keys.example/x\n")), True),
        ("curl https://keys.example/anne.keys\n", True),
        ("curl https://keys.example/anne.key\n", False),
        ("a curl\n.keys\n", False),
        ("# not #include\n", False),
    ],
)
def test_keys_from_elsewhere(document: str, expected: bool) -> None:
    assert fetches_keys(document) is expected
