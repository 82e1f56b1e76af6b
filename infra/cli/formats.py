"""Formats of what commands print: one table for all of them, and the option that chooses."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from enum import StrEnum
from typing import Any

import typer


class Format(StrEnum):
    """Forms of a report. Only `text` is for people; its words may change from one release to the next."""

    TEXT = "text"
    JSON = "json"
    YAML = "yaml"
    SARIF = "sarif"
    JUNIT = "junit"
    MARKDOWN = "markdown"


#: Of every JSON document: raised where a key goes away or changes its meaning, not where one is added.
JSON_VERSION = 1

#: Command -> the formats that it knows; what it prints without the option is the first.
FORMATS: Mapping[str, tuple[Format, ...]] = {
    "lock": (Format.TEXT, Format.JSON),
    "check": (Format.TEXT, Format.JSON, Format.SARIF, Format.JUNIT),
    "explain": (Format.TEXT, Format.JSON),
    "verify": (Format.TEXT, Format.JSON),
    "plan": (Format.TEXT, Format.JSON),
    "rollout": (Format.TEXT, Format.JSON),
    "wiring": (Format.TEXT, Format.JSON),
    "nodes": (Format.TEXT, Format.JSON),
    "capacity": (Format.TEXT, Format.JSON),
    "ssh": (Format.TEXT, Format.JSON),
    "preflight": (Format.TEXT, Format.JSON),
    "unlock": (Format.TEXT, Format.JSON),
    "audit": (Format.TEXT, Format.JSON, Format.SARIF, Format.JUNIT),
    "switches": (Format.TEXT, Format.JSON),
    "fabrics": (Format.TEXT, Format.JSON),
    "controllers": (Format.TEXT, Format.JSON),
    "settle": (Format.TEXT, Format.JSON),
    "report": (Format.TEXT, Format.JSON, Format.MARKDOWN),
    "site": (Format.TEXT, Format.YAML, Format.JSON),
}

#: What `text` was called by one command or another; taken for a release more.
EARLIER = {"table": Format.TEXT, "tree": Format.TEXT}


def format_option(command: str) -> Any:
    """The option `--format` of a command, for `Annotated`."""
    known = FORMATS[command]

    def read(word: str) -> Format:
        if word in EARLIER:
            return EARLIER[word]
        if word in known:
            return Format(word)
        names = [str(item) for item in known]
        close = get_close_matches(word, names, n=1)
        hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(names)}"
        raise typer.BadParameter(f"there is no format {word} here: {hint}")

    return typer.Option(
        "--format",
        "-f",
        parser=read,
        metavar="|".join(known),
        help="Form of the report.",
        autocompletion=lambda incomplete: [str(item) for item in known if item.startswith(incomplete)],
    )


def print_json(document: Mapping[str, Any]) -> None:
    """Print a document of ours with its version."""
    print_plain_json({"version": JSON_VERSION} | dict(document))


def print_plain_json(document: Any) -> None:
    """Print a document whose form somebody else decides; characters that stdout cannot encode are escaped."""
    json.dump(document, sys.stdout, indent=1, ensure_ascii=not encodes_all())
    print()


def encodes_all() -> bool:
    """True if every character can be written to stdout."""
    return (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
