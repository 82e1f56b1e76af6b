"""User data, opened: what is in it as base64, gzip, MIME parts or escaped strings, one inside another.

cloud-init unpacks these by itself, and a shell script with one command. Nothing is run or fetched, and there is a
bound: user data of Nova is at most 64 KiB, so what goes beyond is no document but a way to fill the memory.
"""

from __future__ import annotations

import base64
import bz2
import email
import lzma
import re
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import yaml

from interlock.vocabulary.ssh_keys import key_line, login_fingerprints

#: Layers, pieces and characters that one document may hold.
DEEPEST = 8
MOST_PIECES = 16_384
MOST_CHARACTERS = 1 << 20

_TOO_MUCH = "too much is packed into it, or too deep"
_WORD = re.compile(r"[A-Za-z0-9+/_-]{12,}={0,2}")
_LINE = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_NO_DIGIT = re.compile(r"[^A-Za-z0-9+/_-]")
#: Where base64 begins in a block of lines: a word before it, such as that of a heredoc, may look like a line of it.
_STARTS = 4
_MIME = re.compile(r"^content-transfer-encoding[ \t]*:", re.IGNORECASE | re.MULTILINE)
#: Only where YAML says something else than its text does: escapes, binary, files with an encoding.
_YAML = re.compile(r"\\|encoding|binary")
#: cloud-init, modules: SSH import id, and its command; user data formats: include file; keys by a command of a shell.
_FETCHED = re.compile(
    r"""(?:^|[\s{,"'])ssh_import_id["']?\s*:|^\#include|\bssh-import-id\b"""
    r"""|^[^\n]*\b(?:curl|wget)\b[^\n]*(?:authorized_keys|\.keys\b)""",
    re.MULTILINE,
)
_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Piece:
    """A text in a document: the line of the document where it begins, and what it was taken out of."""

    line: int
    layers: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Contents:
    """Every text in a document, itself the first, and (line, reason) of what could not be opened."""

    pieces: tuple[Piece, ...]
    closed: tuple[tuple[int, str], ...] = ()


@lru_cache(maxsize=1 << 13)
def contents(document: str) -> Contents:
    """A document and everything in it. Never raises."""
    return _Opener().all_of(document)


def login_keys(document: str) -> tuple[str, ...]:
    """The fingerprints of the public ssh keys in a document, sorted: whoever has one of them enters the server."""
    return tuple(sorted({key for piece in contents(document).pieces for key in login_fingerprints(piece.text)}))


def fetches_keys(document: str) -> bool:
    """True if keys, or documents with keys perhaps, come from elsewhere: which ones, nobody can read here."""
    return any(_FETCHED.search(piece.text) for piece in contents(document).pieces)


class _Opener:
    def __init__(self) -> None:
        self._waiting: deque[Piece] = deque()
        self._found: list[Piece] = []
        self._seen: set[str] = set()
        self._closed: dict[tuple[int, str], None] = {}
        self._characters = 0
        #: Compressed data that came out to its end, and that did not.
        self._whole: list[bytes] = []
        self._torn: list[tuple[int, str, bytes]] = []

    def all_of(self, document: str) -> Contents:
        """Breadth first: what is nearest to the surface is named first."""
        whole = Piece(1, (), document)
        self._keep(whole)
        if document.startswith("\x1f\x8b"):
            self._unpacked(whole, whole.line, document.encode("latin-1", "replace"), ())
        while self._waiting:
            self._look_into(self._waiting.popleft())
        return Contents(tuple(self._found), tuple(dict.fromkeys((*self._closed, *self._not_joined()))))

    def _keep(self, piece: Piece) -> None:
        if piece.text in self._seen:
            return
        self._characters += len(piece.text)
        too_much = len(self._found) >= MOST_PIECES or (piece.layers and self._characters > MOST_CHARACTERS)
        if too_much or len(piece.layers) > DEEPEST:
            self._closed[piece.line, _TOO_MUCH] = None
            return
        self._seen.add(piece.text)
        self._found.append(piece)
        self._waiting.append(piece)

    def _look_into(self, piece: Piece) -> None:
        for line, data in (*_words(piece.text), *_blocks(piece.text)):
            self._unpacked(piece, line, data, ("base64",))
        for line, data in _blocks(piece.text):
            # The form of RFC 4716: a body on several lines, its type on none.
            if key := key_line(data):
                self._keep(Piece(piece.line if piece.layers else line, (*piece.layers, "lines"), key))
        for applies, parts, layer in _FORMATS:
            if applies.search(piece.text):
                try:
                    for line, found in parts(piece.text):
                        self._unpacked(piece, line, found, (layer,))
                except (ValueError, LookupError, AssertionError, RecursionError, TypeError):
                    self._closed[piece.line, f"its {layer} cannot be read"] = None

    def _unpacked(self, piece: Piece, line: int, data: bytes, layers: tuple[str, ...]) -> None:
        """What came out of a piece, and out of that again where it is compressed."""
        # In what is unpacked there are lines of its own; the document's is that where it begins.
        where = piece.line if piece.layers else line
        found = next((item for item in _COMPRESSED if data.startswith(item[1])), None)
        if found is None:
            # UTF-16 without its zeros is the text that it says.
            text = data.replace(b"\0", b"").decode(errors="replace")
            self._keep(Piece(where, (*piece.layers, *layers), text))
            return
        name, _, unpack = found
        inside = unpack(data)
        if len(inside.data) > MOST_CHARACTERS or len(piece.layers) > DEEPEST:
            self._closed[where, _TOO_MUCH] = None
            return
        if inside.is_whole:
            self._whole.append(data)
        else:
            self._torn.append((where, name, data))
        self._unpacked(Piece(where, (*piece.layers, *layers, name), ""), where, inside.data, ())

    def _not_joined(self) -> Iterator[tuple[int, str]]:
        """What is torn, but for the first line of a block: that was taken by itself too."""
        for line, name, data in self._torn:
            if not any(whole.startswith(data[:-2]) for whole in self._whole):
                yield line, f"its {name} cannot be unpacked"


def _words(text: str) -> Iterator[tuple[int, bytes]]:
    """(line, bytes) of every word that can be base64."""
    for match in _WORD.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, _decoded(match.group())


def _blocks(text: str) -> Iterator[tuple[int, bytes]]:
    """The same of lines that stand below each other, the first of them behind other words perhaps."""
    lines = [line.strip() for line in text.split("\n")]
    at = 0
    while at < len(lines):
        end = at + 1
        while end < len(lines) and _LINE.fullmatch(lines[end]):
            end += 1
        head = (lines[at].split() or [""])[-1]
        block = [head if _LINE.fullmatch(head) else "", *lines[at + 1 : end]]
        for start in range(min(_STARTS, len(block) - 1)):
            yield at + start + 1, _decoded("".join(block[start:]))
        at = end


def _decoded(word: str) -> bytes:
    """Base64 of either alphabet up to its first `=`; whatever else is in it is left out, as cloud-init does."""
    digits = _NO_DIGIT.sub("", word.partition("=")[0]).replace("-", "+").replace("_", "/")
    digits = digits[: len(digits) - 1] if len(digits) % 4 == 1 else digits
    return base64.b64decode(digits + "==")  # more `=` than are missing do no harm


def _mime_parts(text: str) -> Iterator[tuple[int, bytes]]:
    """The parts of a MIME document, without their transfer encoding."""
    for part in email.message_from_string(text).walk():
        payload, raw = part.get_payload(decode=True), str(part.get_payload())
        # Of a part that holds others there is none.
        if isinstance(payload, bytes):
            yield text.count("\n", 0, max(0, text.find(raw))) + 1, payload


def _yaml_values(text: str) -> Iterator[tuple[int, bytes]]:
    """The values of a YAML or JSON document, and of files in it what their encoding says."""
    try:
        root = yaml.compose(text, Loader=_LOADER)
    except (yaml.YAMLError, ValueError):
        return  # a script, not a document
    waiting, seen = [root], set[int]()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.ScalarNode):
            binary = node.tag.endswith("binary")
            yield node.start_mark.line + 1, _decoded(node.value) if binary else node.value.encode(errors="replace")
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            waiting += [item for pair in node.value for item in pair]
            yield from _file_of(node)


def _file_of(node: yaml.MappingNode) -> Iterator[tuple[int, bytes]]:
    """`content` as `encoding` says: `b64`, `base64`, `gz`, `gzip`, `gz+b64` and the like."""
    fields = {key.value: value for key, value in node.value if isinstance(value, yaml.ScalarNode)}
    content, encoding = fields.get("content"), fields.get("encoding")
    if content is not None and encoding is not None:
        is_base64 = "64" in encoding.value
        data = _decoded(content.value) if is_base64 else content.value.encode("latin-1", "replace")
        yield content.start_mark.line + 1, data


@dataclass(frozen=True)
class _Inside:
    """What came out of compressed data, up to the bound and one byte, and whether that is all."""

    data: bytes
    is_whole: bool


def _gunzipped(data: bytes) -> _Inside:
    """Every member of a gzip file; what follows the last one is left alone, as `gunzip` does."""
    found = b""
    # A bound of nothing would be none for zlib.
    while data.startswith(_GZIP) and len(found) <= MOST_CHARACTERS:
        member = zlib.decompressobj(wbits=31)
        try:
            found += member.decompress(data, MOST_CHARACTERS + 1 - len(found))
        except zlib.error:
            return _Inside(found, is_whole=False)
        if not member.eof:
            return _Inside(found, is_whole=False)
        data = member.unused_data
    return _Inside(found, is_whole=True)


def _bunzipped(data: bytes) -> _Inside:
    reader = bz2.BZ2Decompressor()
    try:
        return _Inside(reader.decompress(data, MOST_CHARACTERS + 1), reader.eof)
    except (OSError, ValueError):
        return _Inside(b"", is_whole=False)


def _unxzed(data: bytes) -> _Inside:
    reader = lzma.LZMADecompressor(memlimit=64 << 20)
    try:
        return _Inside(reader.decompress(data, MOST_CHARACTERS + 1), reader.eof)
    except (lzma.LZMAError, ValueError):
        return _Inside(b"", is_whole=False)


_GZIP = b"\x1f\x8b"
Parts = Callable[[str], Iterator[tuple[int, bytes]]]
_FORMATS: tuple[tuple[re.Pattern[str], Parts, str], ...] = (
    (_MIME, _mime_parts, "MIME part"),
    (_YAML, _yaml_values, "YAML value"),
)
_COMPRESSED: tuple[tuple[str, bytes, Callable[[bytes], _Inside]], ...] = (
    ("gzip", _GZIP, _gunzipped),
    ("bzip2", b"BZh", _bunzipped),
    ("xz", b"\xfd7zXZ\0", _unxzed),
)
