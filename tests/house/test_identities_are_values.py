"""Outside `interlock/vocabulary` nobody writes the beginning of an identity, or divides text where one is divided.

Three searches: text that begins as an identity does, in any constant, f-string or argument (`X = "site:Flavor/"`,
`f"prin:{owner}"`, `text.removeprefix("segment:")`); text that is divided at a separator of identities
(`text.split("/")`, `text.rpartition(":")`), also where the separator has a name at the module's top; and two values
joined by one (`f"{project}/{user}"`, `"/".join(…)`). What else is meant by such text is in `EXEMPT`, with the reason.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.vocabulary import CloudId, Reference
from interlock.vocabulary.digests import Digest
from interlock.vocabulary.entries import of_lock, of_resource
from interlock.vocabulary.markers import Marker
from interlock.vocabulary.nodes import (
    HeldHost,
    HeldLoginKey,
    HeldMachine,
    HeldSegment,
    HeldSwitchPort,
    MacAddress,
    is_identity,
)
from interlock.vocabulary.owners import OwnerId
from interlock.vocabulary.principals import is_principal_or_object
from interlock.vocabulary.urns import TypeToken, Urn

ROOT = Path(__file__).parents[2]
ROOMS = ("interlock", "policies", "components", "infra")
#: The second derivation shares no identities with the proof: it has words of its own, in one place as well.
VOCABULARY = ("interlock/vocabulary/", "infra/verifying/names.py", "infra/verifying/references.py")

#: Methods of text that divide it at a separator.
DIVIDING = frozenset({"split", "rsplit", "partition", "rpartition"})
SEPARATORS = frozenset({":", "::", "/", "@", "~"})

_OTHERS = (
    MacAddress("m"), HeldMachine("m"), HeldHost("h"), HeldSwitchPort("s", 1), HeldSegment("L:s:1"), HeldLoginKey("k"),
    CloudId("i"),
    Marker(OwnerId("o"), "n"), of_lock("t"), of_resource("r"), TypeToken.object("Port"),
    Urn("s", "p", "t", "n"), Digest("0"),
)  # fmt: skip
#: What the texts of values begin with that have no question of their own.
BEGINNINGS = tuple(f"{str(value).partition(':')[0]}:" for value in _OTHERS)

_CHECKER = "the checker shares no code with what it checks"
_CODE = "file and line of our own code, in a message about a fault of ours"
_ENDPOINT = "the end of a cable, a type of the site file: read there with ranges, written by its own `str`"
_KEY = "the key of an object in the claims store, which alone puts it together and takes the kind off it"
_PATH = "a path of an API"

#: (file, text) -> how often it stands there, and why it is no identity or that file may know how it looks.
EXEMPT: dict[tuple[str, str], tuple[int, str]] = {
    ("infra/access/authority.py", ":"): (1, "from when to when, as ssh-keygen takes it"),
    ("infra/checker/authority.py", "prin:"): (1, _CHECKER),
    ("infra/checker/derived_edges.py", ":"): (8, _CHECKER),
    ("infra/checker/derived_edges.py", "@"): (1, _CHECKER),
    ("infra/checker/derived_edges.py", "L:"): (1, _CHECKER),
    ("infra/checker/derived_edges.py", "dev:"): (4, _CHECKER),
    ("infra/checker/derived_edges.py", "fabric:"): (1, _CHECKER),
    ("infra/checker/derived_edges.py", "~"): (1, _CHECKER),
    ("infra/checker/reading.py", "sha256:"): (1, _CHECKER),
    ("infra/commands/channel.py", ":"): (1, "address and port of a listener, for people"),
    ("infra/commands/ssh.py", "@"): (1, "account and host, as ssh takes them"),
    ("infra/reports/ci_reports.py", "/"): (1, "the fingerprint of a finding in SARIF; nobody reads it back"),
    ("infra/reports/switch_reports.py", "/"): (1, "two states of a port, for people"),
    ("infra/stack/engine.py", "/"): (1, "organization/project/stack, as the engine lists stacks"),
    ("infra/reports/wiring_text.py", ":"): (1, "the description of a port on a switch, for people"),
    ("interlock/model/schema.py", "urn:interlock:schema:"): (1, "the name of a JSON schema, which is no resource"),
    ("interlock/model/site/physical.py", ":"): (1, _ENDPOINT),
    ("interlock/model/site/values.py", ":"): (1, _ENDPOINT),
    ("interlock/model/site/whole_nodes.py", ":"): (1, "an alias and how many devices, as Nova takes them"),
    ("interlock/model/tenant/values.py", "/"): (1, "the path of a folder on a server"),
    ("interlock/planning/share_mounts.py", ":"): (1, "what is mounted, as mount(8) has it; nobody reads it back"),
    ("interlock/provider/actuators/vipu_objects.py", ":"): (2, "host and port of an agent, for people"),
    ("interlock/vipu/listening.py", ":"): (1, "address and port of a socket, as ss(8) writes them"),
    ("interlock/vipu/loading.py", ":"): (1, "host and port of an ssh server, for people"),
    ("interlock/provider/actuators/quotas.py", "/"): (4, _PATH),
    ("interlock/provider/actuators/s3.py", "/"): (1, _PATH),
    ("interlock/provider/actuators/server.py", "/"): (2, _PATH),
    ("interlock/provider/audit/mirror.py", "/"): (3, _PATH),
    ("interlock/provider/calls.py", "/"): (1, _CODE),
    ("interlock/provider/calls.py", ":"): (1, _CODE),
    ("interlock/provider/preflight/passed_devices.py", ":"): (1, "an alias and how many devices, as Nova has them"),
    ("interlock/provider/registers.py", "/"): (2, _PATH),
    ("interlock/provider/statuses.py", "/"): (1, _CODE),
    ("interlock/provider/statuses.py", ":"): (1, _CODE),
    ("interlock/store/folder.py", "/"): (1, _KEY),
    ("interlock/store/history.py", "@"): (1, _KEY),
    ("interlock/store/objects.py", "/"): (2, _KEY),
    ("interlock/store/s3.py", "/"): (1, _KEY),
    ("interlock/store/s3_calls.py", "/"): (2, "the path of a URL"),
    ("interlock/store/shelves.py", "/"): (1, _KEY),
    ("interlock/store/writer.py", "@"): (1, "user@host, for people; nobody reads it back"),
    ("interlock/channel/tickets.py", "/"): (1, _PATH),
    ("interlock/switches/answers.py", ":"): (1, "a MAC address in the form in which both sides are compared, no node"),
    ("interlock/switches/eos.py", "/"): (1, "address and length of a prefix, as every switch writes them"),
    ("interlock/switches/loading.py", ":"): (1, "host and port of an ssh server, for people"),
    ("interlock/switches/observed.py", ":"): (1, "a neighbour and its interface, for people"),
    ("interlock/ufm/client.py", "/"): (1, _PATH),
    ("interlock/ufm/file.py", ":"): (1, "host and port of a URL"),
    ("interlock/ufm/transport.py", ":"): (1, "user and password, as HTTP takes them"),
    ("policies/edges/plan.py", "/"): (1, "a name inside an identity, which quotes it whole"),
    ("policies/rules/images.py", "/"): (1, "the path of an image's file"),
    ("policies/rules/links.py", "/"): (1, "kinds of cables, in words"),
    ("policies/rules/rule.py", "/"): (1, "only hashed: ids of findings, which waivers name, stay as they are"),
}


def begins_an_identity(text: str) -> bool:
    """True for what the text of a value begins with, such as `L:`, and for whole texts; a sentence is none."""
    if any(character.isspace() for character in text):
        return False
    asked = is_identity(text) or is_principal_or_object(text) or Reference.scheme_of(text) is not None
    return asked or text.startswith(BEGINNINGS)


def found_in(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The texts that only the vocabulary may know, with their lines."""
    named = dict(_separators_with_a_name(tree))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            if begins_an_identity(node.value):
                yield node.value, node.lineno
        elif isinstance(node, ast.JoinedStr):
            yield from ((text, node.lineno) for text in _joining(node) if text in SEPARATORS)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            texts = _given(node, named) if node.func.attr in DIVIDING else _joined_by(node.func, named)
            yield from ((text, node.lineno) for text in texts if text in SEPARATORS)


def _joining(text: ast.JoinedStr) -> Iterator[str]:
    """What stands between the values of an f-string, if it begins and ends with one."""
    kinds = [isinstance(part, ast.FormattedValue) for part in text.values]
    if len(kinds) > 2 and kinds[0] and kinds[-1]:
        yield from (str(part.value) for part in text.values if isinstance(part, ast.Constant))


def _joined_by(method: ast.Attribute, named: dict[str, str]) -> Iterator[str]:
    if method.attr == "join":
        yield from _texts([method.value], named)


def _separators_with_a_name(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Constants at the module's top that hold a text."""
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        targets = [statement.target] if isinstance(statement, ast.AnnAssign) else targets
        value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield from ((target.id, value.value) for target in targets if isinstance(target, ast.Name))


def _given(call: ast.Call, named: dict[str, str]) -> Iterator[str]:
    yield from _texts([*call.args, *(keyword.value for keyword in call.keywords)], named)


def _texts(words: list[ast.expr], named: dict[str, str]) -> Iterator[str]:
    """Those that are written out or have a name at the module's top."""
    for word in words:
        if isinstance(word, ast.Constant) and isinstance(word.value, str):
            yield word.value
        elif isinstance(word, ast.Name) and word.id in named:
            yield named[word.id]


def _found() -> Iterator[tuple[str, str, int]]:
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith(VOCABULARY):
                yield from ((name, text, line) for text, line in found_in(ast.parse(path.read_text())))


def test_identities_are_neither_written_nor_taken_apart_as_text() -> None:
    found = list(_found())
    times = Counter((name, text) for name, text, _ in found)
    allowed = {place: count for place, (count, _) in EXEMPT.items()}
    assert [item for item in found if times[item[:2]] > allowed.get(item[:2], 0)] == []


def test_every_exemption_is_used_as_often_as_it_says_and_has_a_reason() -> None:
    times = Counter((name, text) for name, text, _ in _found())
    assert {place: times[place] for place in EXEMPT} == {place: count for place, (count, _) in EXEMPT.items()}
    assert all(reason for _, reason in EXEMPT.values())


@pytest.mark.parametrize(
    ("code", "texts"),
    [
        # Questions about the beginning of a text, and beginnings taken off.
        ('a.startswith("L:"); b.startswith(("dev:", "R:"))', ["L:", "dev:", "R:"]),
        ('a.removeprefix("segment:"); b.removesuffix("mac:")', ["segment:", "mac:"]),
        ('a.removeprefix("site:Flavor/"); b.startswith("cloud-id:")', ["site:Flavor/", "cloud-id:"]),
        ('item.replace("sha256:", "")', ["sha256:"]),
        # Text divided at a separator.
        ('project, user, role = ident.split("/")', ["/"]),
        ('ident.rsplit(sep=":", maxsplit=1)', [":"]),
        ('network, _, number = value.rpartition(":")', [":"]),
        ('stack, _, version = ident.partition("@")', ["@"]),
        ('urn.split("::", 3)', ["::"]),
        # Constants at the module's top: a beginning, several, a whole identity, a separator that is used further down.
        ('_SITES = "site:Flavor/"', ["site:Flavor/"]),
        ('PREFIXES: tuple[str, ...] = ("prin:", "obj:")', ["prin:", "obj:"]),
        ('OBJECT, USER = "interlock:index:", "user:"', ["interlock:index:", "user:"]),
        ('ADMIN = "cloud:Role/admin"', ["cloud:Role/admin"]),
        ('SLASH = "/"\ndef f(ident):\n    return ident.split(SLASH)', ["/"]),
        ('SLASH: str = "/"\ndef f(ident):\n    return ident.partition(SLASH)', ["/"]),
        # Text put together.
        ('f"prin:{owner}"; f"urn:pulumi:{stack}::"', ["prin:", "urn:pulumi:"]),
        ('"mac:" + address', ["mac:"]),
        ('f"{project}/{user}/{role}"; f"{stack}@{version}"', ["/", "/", "@"]),
        ('"/".join((project, user))', ["/"]),
    ],
)
def test_the_search_finds_what_it_looks_for(code: str, texts: list[str]) -> None:
    assert sorted(text for text, _ in found_in(ast.parse(code))) == sorted(texts)


@pytest.mark.parametrize(
    "code",
    [
        'text.split(","); text.partition("="); text.rpartition("-"); text.split(maxsplit=2)',
        'f"cloud: {found} is there"; print("site: unchanged")',
        '"""`L:<switch serial>:<vlan>`."""',
        'f"{name} on {host}"; f"{path}/{ident}/action"; ", ".join(names)',
        'kind = "Port"; SEPARATOR = ", "; words.split(SEPARATOR)',
    ],
)
def test_the_search_leaves_other_text_alone(code: str) -> None:
    assert list(found_in(ast.parse(code))) == []
