"""One name, one class: who reads a name anywhere in the product knows which type is meant."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from interlock.vocabulary import InterlockError
from tests.house.test_house import ROOT

PRODUCT = ("infra", "components", "policies", "interlock", "toolchain")

#: Errors that people are never shown: caught by the module that raises them, or by its caller.
INTERNAL = {
    "AnswerMisread": "what a switch answered, told as `SwitchUnread`",
    "CommandRefused": "the same, or told as what is unknown of a switch",
    "UfmMisread": "what UFM answered, told as `UfmError`",
    "VipuMisread": "what a V-IPU controller answered, told as `VipuError`",
    "_Endless": "the same, of an answer that does not end",
    "Changed": "a lost race for an object of the store, which the ledger settles",
    "ConditionFailed": "the same, as an S3 server says it",
    "Exists": "the same, of a new object",
    "Partial": "an object that is to be kept in the state with its failure, which is told",
    "NotOurs": "a disk that a program in a server leaves alone, told in the server's journal",
    "NotYet": "the same, of a disk that is not there yet",
    "NotMountable": "a share that a program in a server does not mount, told in the server's journal",
    "NotMountedYet": "the same, of a share that may be mounted later",
    "RequestRefused": "a request that a service of ours answers with a status and a sentence",
    "KeyManagerFailed": "told to a server and in a log, and by `channel` as `EnvironmentFailed`",
    "Malformed": "the checker imports nothing of ours; `verify` tells it as an input error",
    "NotExpressible": "no plan can hold it: told as such in the report of an audit",
    "_Impatient": "a search that is cut off",
}


def classes(room: str) -> Iterator[tuple[str, ast.ClassDef]]:
    for path in sorted((ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                yield path.relative_to(ROOT).as_posix(), node


def test_no_class_name_stands_twice() -> None:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for room in PRODUCT:
        for where, node in classes(room):
            found[node.name].append(where)
    assert len(found) > 300
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_errors_that_people_see_have_one_base() -> None:
    """The toolchain is apart: it runs before there is an environment to import anything from."""
    plain = {"Exception", "ValueError", "LookupError", "RuntimeError", "OSError", "KeyError", "TypeError"}
    found = {
        node.name: where
        for room in PRODUCT
        if room != "toolchain"
        for where, node in classes(room)
        if {base.id for base in node.bases if isinstance(base, ast.Name)} & plain
        and not any(isinstance(base, ast.Name) and base.id == InterlockError.__name__ for base in node.bases)
    }
    assert found.pop(InterlockError.__name__) == "interlock/vocabulary/errors.py"
    assert {name: where for name, where in found.items() if name not in INTERNAL} == {}
    assert sorted(INTERNAL) == sorted(found)
