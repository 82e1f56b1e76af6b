"""Compressed data in user data: how much of it is taken out, and what its reader has to bear."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import zlib
from collections.abc import Callable

import pytest

from policies.facts import user_data
from policies.facts.user_data import MOST_CHARACTERS, contents
from tests.builders.pod64 import ssh_key
from tests.policies.test_exact_user_data import TOO_MUCH, Found, below
from tests.policies.test_user_data import b64


def packed(*texts: str) -> bytes:
    """A gzip file of these members."""
    return b"".join(gzip.compress(text.encode(), mtime=0) for text in texts)


@pytest.mark.parametrize(
    ("unpack", "data"),
    [
        (user_data._gunzipped, packed("." * 2 * MOST_CHARACTERS)),
        (user_data._gunzipped, packed(*["." * MOST_CHARACTERS] * 2)),
        # A member that ends where the bound does: of what follows nothing is unpacked.
        (user_data._gunzipped, packed("." * (MOST_CHARACTERS + 1), "." * MOST_CHARACTERS)),
        (user_data._gunzipped, packed(*["." * (MOST_CHARACTERS + 1)] * 3)),
        (user_data._bunzipped, bz2.compress(b"." * 2 * MOST_CHARACTERS)),
        (user_data._unxzed, lzma.compress(b"." * 2 * MOST_CHARACTERS, preset=0)),
    ],
    ids=["gzip", "two members", "up to the bound", "three members", "bzip2", "xz"],
)
def test_the_bound_and_one_byte_are_unpacked(unpack: Callable[[bytes], user_data._Inside], data: bytes) -> None:
    assert len(unpack(data).data) == MOST_CHARACTERS + 1
    assert contents(below(b64(data))).closed == ((3, TOO_MUCH),)


HALF = MOST_CHARACTERS // 2


@pytest.mark.parametrize(
    ("members", "is_closed"),
    [
        (("é" * HALF,), False),
        (("é" * HALF, "."), True),
        (("é" * (HALF - 1), ".", "."), False),
        (("é" * HALF + ".",), True),
    ],
)
def test_the_bound_is_one_of_bytes(members: tuple[str, ...], is_closed: bool) -> None:
    """They are counted over all members, before they are characters: of these there are fewer."""
    found = contents(below(b64(packed(*members))))
    assert found.closed == (((3, TOO_MUCH),) if is_closed else ())
    assert [piece.text for piece in found.pieces[1:]] == ([] if is_closed else ["".join(members)])


def test_gzip_repeats_what_stands_far_before() -> None:
    """As far as gzip reaches, 32 KiB."""
    text = "".join(f"{hashlib.sha256(b'%d' % number).hexdigest()}." for number in range(480))
    assert 31_000 < len(text) < 1 << 15
    data = packed(text * 3)
    assert len(data) < len(packed(text)) * 1.5
    found = contents(below(b64(data)))
    assert (found.closed, found.pieces[1].text) == ((), text * 3)


def with_dictionary(byte: int) -> bytes:
    """xz that asks its reader for a dictionary of another size: its number is in the header, with a checksum."""
    data = lzma.compress(b"hello, world", preset=0)
    size = (data[12] + 1) * 4
    head = data[12 : 12 + size - 4]
    assert head[2:4] == b"\x21\x01"
    head = head[:4] + bytes([byte]) + head[5:]
    return data[:12] + head + zlib.crc32(head).to_bytes(4, "little") + data[12 + size :]


@pytest.mark.parametrize(("byte", "mebibytes", "is_open"), [(27, 48, True), (28, 64, False), (30, 128, False)])
def test_how_much_memory_xz_may_ask_for(byte: int, mebibytes: int, is_open: bool) -> None:
    """Less than 64 MiB for all of it."""
    assert (2 | byte & 1) << byte // 2 + 11 == mebibytes << 20
    found = contents(below(b64(with_dictionary(byte))))
    assert found.closed == (() if is_open else ((3, "its xz cannot be unpacked"),))
    assert found.pieces[1].text == ("hello, world" if is_open else "")


def lines_of(document: str) -> list[Found]:
    """What was found on several lines."""
    found = contents(document).pieces
    return [(piece.line, piece.layers, piece.text) for piece in found if piece.layers[-1:] == ("lines",)]


def test_a_key_on_lines_of_its_own() -> None:
    """The form of RFC 4716: found where its body begins; in what is packed, where that does."""
    kind, body = ssh_key("anne").split()[:2]
    text = f"#.\n#.\nk. {body[:40]}\n  {body[40:]}\n.\n"
    assert lines_of(text) == [(3, ("lines",), f"{kind} {body}")]
    assert lines_of("#.\n" + below(b64(text))) == [(4, ("base64", "lines"), f"{kind} {body}")]
