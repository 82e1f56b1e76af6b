"""Which changes of the code are tried: the operators of cosmic-ray, and what these rules are made of besides.

A mutant is one change of one module. Left out are changes of annotations and docstrings, those that mean the same by
construction (`is` for `==` beside an enumeration), and those that raise a TypeError wherever they are reached (a set
times a set): they would be killed by any test at all, and make the ratio look better than it is.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.operators.provider import OperatorProvider

ROOT = Path(__file__).resolve().parents[2]

Place = tuple[int, int]
"""Line from 1, column from 0, as parso counts."""


class CosmicOperator(Protocol):
    """What an operator of cosmic-ray does; parso's nodes have no types."""

    def mutation_positions(self, node: Any) -> Iterator[tuple[Place, Place]]:
        """Where it can change this node, once for each way."""
        ...

    def mutate(self, node: Any, index: int) -> Any:
        """The node changed in one of these ways."""
        ...


@dataclass(frozen=True)
class Mutant:
    """One change of a module: `source` is the whole of it, changed."""

    module: str
    operator: str
    line: int
    #: The text of its line, and where in it the change begins, both without what indents the line.
    text: str
    column: int
    before: str
    after: str
    #: Function or method in which it lies; empty at the level of the module.
    function: str
    #: Where the text before begins in the module's text, in characters.
    start: int

    @property
    def place(self) -> str:
        """The function, as the table of tests that reach it has it."""
        return f"{self.module}:{self.function}"

    @property
    def key(self) -> str:
        """What stays the same when lines are moved: module, function, line, and the text before and after."""
        return f"{self.module}:{self.function}: {self.text} @{self.column} [{self.before}] => [{self.after}]"

    def __str__(self) -> str:
        return f"{self.module}:{self.line}:{self.column} [{self.before}] => [{self.after}] in: {self.text}"


def modules() -> tuple[str, ...]:
    """The modules whose mutants are tried, from the root of the project."""
    folders = tuple(f"policies/{name}" for name in ("rules", "authority", "graph", "edges", "facts"))
    found = [path for folder in (*folders, "infra/checker") for path in sorted((ROOT / folder).glob("*.py"))]
    return tuple(path.relative_to(ROOT).as_posix() for path in found)


# Operators of cosmic-ray.

_SETS = {"BitOr": ("BitAnd", "Sub", "BitXor"), "BitAnd": ("BitOr", "Sub", "BitXor"), "Sub": ("BitOr", "BitAnd", "Add")}
_NUMBERS = {"Add": ("Sub",), "Mul": ("Add",), "FloorDiv": ("Mul",), "Div": ("Mul",), "Mod": ("FloorDiv",)}
_COMPARISONS = {
    "Eq": ("NotEq",), "NotEq": ("Eq",), "Is": ("IsNot",), "IsNot": ("Is",),
    "Lt": ("LtE", "GtE"), "LtE": ("Lt", "Gt"), "Gt": ("GtE", "LtE"), "GtE": ("Gt", "Lt"),
}  # fmt: skip
_OTHERS = (
    "AddNot", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceAndWithOr", "ReplaceOrWithAnd",
    "ReplaceBreakWithContinue", "ReplaceContinueWithBreak", "NumberReplacer", "ZeroIterationForLoop",
    "ReplaceUnaryOperator_Delete_Not", "ReplaceUnaryOperator_USub_UAdd",
)  # fmt: skip

#: What an operator of cosmic-ray is asked about: asking all of them about each node takes a minute.
_NODES = {
    "ReplaceBinary": ("operator",), "ReplaceComparison": ("comparison",), "ReplaceUnary": ("factor", "not_test"),
    "AddNot": ("if_stmt", "while_stmt", "assert_stmt", "test"), "NumberReplacer": ("number",),
    "ZeroIteration": ("for_stmt",), "Replace": ("keyword",),
}  # fmt: skip


@cache
def _operators() -> dict[str, list[tuple[str, CosmicOperator]]]:
    """Type of node -> the operators that may change it."""
    provider = OperatorProvider()
    pairs = _SETS | {name: (*_SETS.get(name, ()), *others) for name, others in _NUMBERS.items()}
    names = [f"ReplaceBinaryOperator_{a}_{b}" for a, others in pairs.items() for b in others]
    names += [f"ReplaceComparisonOperator_{a}_{b}" for a, others in _COMPARISONS.items() for b in others]
    found: defaultdict[str, list[tuple[str, CosmicOperator]]] = defaultdict(list)
    for name in (*names, *_OTHERS):
        kinds = next(kinds for head, kinds in _NODES.items() if name.startswith(head))
        for kind in kinds:
            found[kind].append((name, provider[name]()))
    return dict(found)


def _by_cosmic_ray(node: Any) -> Iterator[tuple[str, str]]:
    """(operator, text) for each way in which cosmic-ray changes this node."""
    for name, operator in _operators().get(node.type, ()):
        for index, _ in enumerate(operator.mutation_positions(node)):
            fresh = _copied(node)
            changed = operator.mutate(fresh, index)
            yield name, changed.get_code(include_prefix=False).lstrip()


def _copied(node: Any) -> Any:
    """A node that may be changed: its parents are looked at, and never changed."""
    if not hasattr(node, "children"):
        fresh = type(node)(node.value, node.start_pos, node.prefix)
        fresh.parent = node.parent
        return fresh
    children = [_copied(child) for child in node.children]
    fresh = type(node)(node.type, children) if type(node).__name__ == "PythonNode" else type(node)(children)
    fresh.parent = node.parent
    return fresh


# And of our own: comprehensions, generators, tables of alternatives.


def _swapped_name(node: Any) -> Iterator[str]:
    """`any` for `all`, `min` for `max`."""
    swapped = {"any": "all", "all": "any", "min": "max", "max": "min"}
    after = node.get_next_leaf()
    if node.value in swapped and after is not None and after.value == "(":
        yield swapped[node.value]


def _condition_dropped(node: Any) -> Iterator[str]:
    """What a comprehension leaves out, it takes; and what it takes, it leaves out."""
    yield "if True"
    yield f"if not ({_code(node.children[1])})"


def _yields_nothing(node: Any) -> Iterator[str]:
    if len(node.children) > 1 and _code(node) != "yield from ()":
        yield "yield from ()"


def _operand_dropped(node: Any) -> Iterator[str]:
    """`a and b` without one of them."""
    word = f" {node.children[1].value} "
    operands = [_code(child) for child in node.children[::2]]
    for place in range(len(operands)):
        kept = word.join(operands[:place] + operands[place + 1 :])
        yield f"({kept})"


def _membership(node: Any) -> Iterator[str]:
    """`in` for `not in`."""
    if len(node.children) == 3:
        left, word, right = (_code(child) for child in node.children)
        if word in ("in", "not in"):
            yield f"{left} {'not in' if word == 'in' else 'in'} {right}"


def _not_done(node: Any) -> Iterator[str]:
    """A statement that changes something, left out."""
    if node.children[0].type == "expr_stmt" and node.children[0].children[1].type == "operator":
        word = node.children[0].children[1].value
        if word.endswith("=") and word != "=":
            yield "pass\n"
    elif node.children[0].type == "atom_expr":
        yield "pass\n"


_OWN: dict[str, tuple[tuple[str, Callable[[Any], Iterator[str]]], ...]] = {
    "name": (("SwapAnyAll", _swapped_name),),
    "comp_if": (("DropCondition", _condition_dropped),),
    "yield_expr": (("YieldNothing", _yields_nothing),),
    "and_test": (("DropOperand", _operand_dropped),),
    "or_test": (("DropOperand", _operand_dropped),),
    "comparison": (("SwapMembership", _membership),),
    "simple_stmt": (("DropStatement", _not_done),),
}


def _by_us(node: Any) -> Iterator[tuple[str, str]]:
    for name, ways in _OWN.get(node.type, ()):
        for text in ways(node):
            yield name, text


def _code(node: Any) -> str:
    return str(node.get_code(include_prefix=False))


# Mutants of a module.


@cache
def mutants_of(module: str) -> tuple[Mutant, ...]:
    """Every mutant of a module, in the order of its lines."""
    source = text_of(module)
    lines = source.splitlines(keepends=True)
    begins = [0]
    for line in lines:
        begins.append(begins[-1] + len(line))
    tree = ast.parse(source)
    passive, functions = list(_passive(tree)), dict(_functions(tree))
    found = []
    for node in ast_nodes(get_ast(source)):
        for operator, text in (*_by_cosmic_ray(node), *_by_us(node)):
            (line, column), (last, end) = node.start_pos, node.end_pos
            if any(low <= (line, column) < high for low, high in passive) or text == _code(node):
                continue
            start, before, after = _smallest(begins[line - 1] + column, begins[last - 1] + end, source, text)
            number = source.count("\n", 0, start) + 1
            inside = [name for (low, high), name in functions.items() if low <= number <= high]
            whole = lines[number - 1]
            at = start - begins[number - 1] - (len(whole) - len(whole.lstrip()))
            function = inside[-1] if inside else ""
            found.append(Mutant(module, operator, number, whole.strip(), at, before, after, function, start))
    return tuple({(item.start, item.before, item.after): item for item in found}.values())


def source_of(mutant: Mutant) -> str:
    """The whole module, changed. Raises LookupError for a mutant of another version of it."""
    source, end = text_of(mutant.module), mutant.start + len(mutant.before)
    if source[mutant.start : end] != mutant.before:
        raise LookupError(f"{mutant} is no mutant of that module any more")
    return source[: mutant.start] + mutant.after + source[end:]


@cache
def text_of(module: str) -> str:
    """The module as it is."""
    return (ROOT / module).read_text()


def _smallest(start: int, end: int, source: str, text: str) -> tuple[int, str, str]:
    """Where the change begins, and the words before and after, without what both have at their beginning and end."""
    before = source[start:end]
    head = _alike(before, text)
    while head and _is_inside(before[head - 1]):
        head -= 1
    tail = min(_alike(before[::-1], text[::-1]), len(before) - head, len(text) - head)
    while tail and _is_inside(before[-tail]):
        tail -= 1
    return start + head, before[head : len(before) - tail], text[head : len(text) - tail]


def _is_inside(character: str) -> bool:
    """True for what makes words and operators of several characters: these are not cut."""
    return character.isalnum() or character in "_=!<>"


def _alike(one: str, other: str) -> int:
    """With how many characters both begin."""
    return next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def _passive(tree: ast.Module) -> Iterator[tuple[Place, Place]]:
    """What is never run, or says nothing: annotations, docstrings, `if TYPE_CHECKING`, slots of decorators."""
    for node in ast.walk(tree):
        spans: list[ast.expr | ast.stmt | None] = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            spans.append(node)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            spans.append(node)
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            spans += node.decorator_list
        if isinstance(node, ast.BinOp) and isinstance(node.right, ast.Constant) and node.right.value is None:
            # `T | None` where a type gets a name.
            spans.append(node)
        for span in spans:
            if span is not None and span.end_lineno is not None and span.end_col_offset is not None:
                yield (span.lineno, span.col_offset), (span.end_lineno, span.end_col_offset)


def _functions(tree: ast.Module) -> Iterator[tuple[tuple[int, int], str]]:
    """(first line, last line), name of each function that is not inside another one."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield (node.lineno, node.end_lineno or node.lineno), node.name
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    yield (inner.lineno, inner.end_lineno or inner.lineno), f"{node.name}.{inner.name}"
