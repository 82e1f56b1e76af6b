"""What adding a resource kind with an identity of its own touches: the list in docs/architecture.md, held to the code.

The example is the InfiniBand partition: its key and the GUIDs of its members are identities that nobody else may have.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.house.test_house import ROOT

PRODUCT = ("infra", "components", "policies", "interlock")
#: Every name by which the code knows the example: the specification and its parts, the fact, the node, the reading.
NAMES = {"PartitionKey", "PartitionMember", "PartitionKeyFact", "partition_key", "membership"}

_SECTION = re.compile(r"^## Adding a resource kind$(?P<text>.*?)^## ", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"^\| [^|]+ \| (?P<place>[^|]+) \| [^|]+ \|$", re.MULTILINE)
_FILE = re.compile(r"`(?P<file>[\w/.]+\.py)`")


def listed() -> list[str]:
    """The files of the table, in its order."""
    section = _SECTION.search((ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"))
    assert section is not None, "docs/architecture.md has no section `Adding a resource kind`"
    return [found["file"] for row in _ROW.finditer(section["text"]) for found in _FILE.finditer(row["place"])]


def said(tree: ast.AST) -> Iterator[str]:
    """Every identifier and every text of a module, without its docstrings and comments."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name) | ast.arg(arg=name):
                yield name
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.keyword(arg=str(name)):
                yield name
            case ast.Constant(value=str(text)):
                yield text


def found_in(text: str) -> set[str]:
    return NAMES & set(said(ast.parse(text)))


def test_the_list_is_where_the_example_is_and_nowhere_else() -> None:
    files = (path for room in PRODUCT for path in sorted((ROOT / room).rglob("*.py")))
    touched = [path.relative_to(ROOT).as_posix() for path in files if found_in(path.read_text(encoding="utf-8"))]
    assert sorted(listed()) == sorted(touched)
    assert len(set(listed())) == len(listed())


def test_every_name_of_the_example_is_used() -> None:
    """A name that is changed in the code has to change here, or the test above would look for nothing."""
    texts = "\n".join((ROOT / file).read_text(encoding="utf-8") for file in listed())
    assert {name for name in NAMES if re.search(rf"\b{name}\b", texts)} == NAMES


def test_a_place_more_would_be_found() -> None:
    assert found_in("from interlock.resources import PartitionKey") == {"PartitionKey"}
    assert found_in("x = spec.membership") == {"membership"}
    assert found_in("kind = 'PartitionKey'") == {"PartitionKey"}
    assert found_in("pools.partition_keys") == set()
