"""User data that is packed: base64, gzip, MIME parts and escaped strings, one inside another, up to a bound."""

from __future__ import annotations

import base64
import bz2
import gzip
import json
import lzma
import time
import uuid
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from functools import cache
from random import Random

import pytest

from policies import Judgement
from policies.facts.user_data import DEEPEST, MOST_CHARACTERS, contents, fetches_keys
from policies.rules.credentials import credentials_in
from tests.builders.pod64 import ssh_key
from tests.policies.workspace import Made, N, P, V, edited, first, full_site, judged, pair, verdicts

SITE = full_site()
SERVER = "acme-train-poplar-0"
SECRET = "db_password: hunter2, as agreed\n"
PEM = f"-----BEGIN OPENSSH PRIVATE KEY-----\n{'b3BlbnNzaC1r' * 40}\n"


@cache
def clean() -> tuple[Made, Made]:
    return pair(SITE)


def b64(data: str | bytes) -> str:
    return base64.b64encode(data.encode() if isinstance(data, str) else data).decode()


def wrapped(text: str, indent: str = "", width: int = 76) -> str:
    return "\n".join(indent + text[at : at + width] for at in range(0, len(text), width))


def written(content: str, encoding: str) -> str:
    fields = f"path: /root/x\n    encoding: {encoding}\n    content: {content}\n    owner: root"
    return f"#cloud-config\nwrite_files:\n  - {fields}\n"


def mime(*parts: MIMEText | MIMEMultipart) -> str:
    whole = MIMEMultipart(boundary="==x==")
    for part in parts:
        whole.attach(part)
    return whole.as_string()


def quoted_printable(text: str) -> str:
    body = text.replace("=", "=3D").replace("password", "pass=\nword")
    return f"Content-Type: text/plain\nContent-Transfer-Encoding: quoted-printable\nMIME-Version: 1.0\n\n{body}"


def onion(text: str, layers: int) -> str:
    for _ in range(layers):
        text = b64(gzip.compress(text.encode()))
    return text


PACKED = {
    "b64": written(b64(SECRET), "b64"),
    "base64 in quotes": written(json.dumps(b64(SECRET)), "base64"),
    "gz+b64": written(b64(gzip.compress(SECRET.encode())), "gz+b64"),
    "gzip+base64": written(b64(gzip.compress(PEM.encode())), "gzip+base64"),
    "lines": written("|\n" + wrapped(b64(PEM), "      "), "b64"),
    "folded lines": written(wrapped(b64(gzip.compress(PEM.encode())), "      ", 40).strip(), "gz+b64"),
    "binary": f"#cloud-config\nwrite_files:\n  - path: /x\n    content: !!binary |\n{wrapped(b64(PEM), '      ')}\n",
    "dots between": written(json.dumps(".".join(b64(SECRET))), "b64"),
    "escapes": '#cloud-config\nruncmd:\n  - "true\\ndb_\\x70assword: hunter2\\n"\n',
    "json": json.dumps({"write_files": [{"content": f"x\n{SECRET}"}]}),
    "whole document": b64(f"#cloud-config\n{SECRET}"),
    "whole document, packed": b64(gzip.compress(SECRET.encode())),
    "two members": b64(gzip.compress(b"harmless\n") + gzip.compress(SECRET.encode())),
    "shell": f"#!/bin/sh\necho {b64(SECRET)} | base64 -d > /etc/x\n",
    "urlsafe": f"#!/bin/sh\necho {base64.urlsafe_b64encode(('??>>' + SECRET).encode()).decode()}\n",
    "heredoc": f"#!/bin/sh\nbase64 -d <<STOPP | gunzip\n{wrapped(b64(gzip.compress(PEM.encode())))}\nSTOPP\n",
    "bzip2": f"#!/bin/sh\necho {b64(bz2.compress(SECRET.encode()))} | base64 -d | bunzip2\n",
    "xz": f"#!/bin/sh\necho {b64(lzma.compress(SECRET.encode()))} | base64 -d | unxz\n",
    "UTF-16": f"#ps1\npowershell -EncodedCommand {b64(SECRET.encode('utf-16-le'))}\n",
    "MIME": mime(MIMEText(SECRET, "cloud-config", "utf-8")),
    "MIME in MIME": mime(MIMEMultipart("mixed", "==y==", [MIMEText(written(b64(SECRET), "b64"), "x", "utf-8")])),
    "quoted-printable": quoted_printable(SECRET),
    "gzip in a MIME part": mime(MIMEText(b64(gzip.compress(SECRET.encode())), "plain", "us-ascii")),
    "four layers": onion(SECRET, 3),
}


def answer(document: str) -> Judgement:
    return judged(SITE, edited(clean()[0].plan, SERVER, user_data=document), clean()[1])


@pytest.mark.parametrize("document", PACKED.values(), ids=PACKED.keys())
def test_a_credential_that_is_packed(document: str) -> None:
    found = list(credentials_in(contents(document)))
    assert found
    assert contents(document).closed == ()
    if not document.startswith("{"):
        assert all(item.layers for item in found)


def test_the_line_and_the_layers_are_named() -> None:
    document = written(b64(gzip.compress(SECRET.encode())), "gz+b64")
    found = first(answer(document))
    assert (found.rule, found.verdict) == ("SEC-04", V)
    assert "holds a password (line 5, in base64, in gzip)" in found.message
    assert "hunter2" not in found.message + " ".join(found.witness)


HARMLESS = {
    "a file": written(b64("hello, world, how are you\n"), "b64"),
    "a packed file": written(b64(gzip.compress(b"hello, world\n" * 50)), "gz+b64"),
    "a public key": f"#cloud-config\nssh_authorized_keys:\n  - {ssh_key('anne')}\n",
    "ids": "\n".join(str(uuid.UUID(int=number**9)) for number in range(200)),
    "paths": "\n".join(f"cp /usr/local/share/{number}/x /var/lib/cloud/instances/{number}" for number in range(200)),
    "words": "AllowTcpForwarding no\nAllowAgentForwarding no\n" * 100,
    "a MIME part": mime(MIMEText("#cloud-config\nhostname: x\n", "cloud-config", "utf-8")),
    "a document that is no YAML": 'encoding: [\n  "\\x70',
}


@pytest.mark.parametrize("document", HARMLESS.values(), ids=HARMLESS.keys())
def test_what_is_packed_and_no_credential(document: str) -> None:
    assert list(credentials_in(contents(document))) == []
    assert contents(document).closed == ()


UNOPENED = {
    "too deep": onion(SECRET, DEEPEST + 2),
    "too much": b64(gzip.compress(b"\0a" * MOST_CHARACTERS)),
    "a bomb": onion("a" * (4 * MOST_CHARACTERS), 2),
    "torn": b64(gzip.compress(SECRET.encode() * 50)[:30]),
    "one of two": f"{b64(gzip.compress(SECRET.encode())[:25])} {b64(gzip.compress(b'hello, world'))}",
    "torn bzip2": b64(bz2.compress(SECRET.encode())[:30]),
    "torn xz": b64(lzma.compress(SECRET.encode())[:40]),
    "broken": b64(gzip.compress(SECRET.encode() * 50)[:9] + b"no gzip after all"),
}


@pytest.mark.parametrize("document", UNOPENED.values(), ids=UNOPENED.keys())
def test_what_cannot_be_opened(document: str) -> None:
    assert contents(document).closed


def test_what_cannot_be_opened_is_not_proved() -> None:
    judgement = answer(UNOPENED["broken"])
    found = first(judgement)
    assert (found.rule, found.verdict, judgement.exit_code) == ("SEC-04", N, 3)
    assert found.missing
    assert verdicts(answer(HARMLESS["a packed file"]))["SEC-04"] == P


HOSTILE = {
    "brackets": 'encoding: "\\x' + "[" * 60_000,
    "braces": "encoding: b64\n" + "{a: " * 20_000,
    "aliases": "encoding: &a [x]\n" + "".join(f"k{n}: &k{n} [*a, *a]\n" for n in range(1000)),
    "an alias of itself": "&a [encoding, *a]",
    "boundaries": "Content-Transfer-Encoding: base64\nContent-Type: multipart/mixed; boundary=x\n\n" + "--x\n" * 8_000,
    "letters": "A" * 65_000,
    "lines": "A\n" * 32_000,
    "dots": "a." * 32_000,
    "dashes": "-----BEGIN " + "A " * 32_000,
    "surrogates": "encoding: \ud800 \\ \udfff" + b64("x" * 100),
    "gzip as text": "\x1f\x8b\x08" + "\xff" * 100,
    "no charset": "Content-Type: text/plain; charset=nothing\nContent-Transfer-Encoding: nothing\n\nx",
}


@pytest.mark.parametrize("document", HOSTILE.values(), ids=HOSTILE.keys())
def test_nothing_takes_long_or_fails(document: str) -> None:
    start = time.process_time()
    assert contents(document).pieces[0].text == document
    list(credentials_in(contents(document)))
    assert time.process_time() - start < 5


def test_random_bytes_never_fail() -> None:
    for seed in range(100):
        rng = Random(seed)
        parts = [
            b64(rng.randbytes(rng.randrange(60))),
            "\n",
            "encoding: b64\ncontent: ",
            "\\",
            '"',
            "H4sI",
            "=",
            "--x\n",
        ]
        contents("".join(rng.choice(parts) for _ in range(60)))


@pytest.mark.parametrize(
    "text",
    [
        "#cloud-config\nruncmd:\n- [ssh-import-id, gh:alice]\n",
        "#!/bin/sh\nssh-import-id-gh alice\n",
        "#!/bin/sh\ncurl https://git.example/alice.keys >> ~/.ssh/keys\n",
        "#!/bin/sh\nwget -qO- https://git.example/x | tee -a /root/.ssh/authorized_keys\n",
    ],
)
def test_keys_that_a_command_fetches_are_unknown(text: str) -> None:
    assert fetches_keys(text)
    assert not fetches_keys("#!/bin/sh\ncurl -o /tmp/x https://git.example/x\n")
