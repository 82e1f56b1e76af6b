"""What a server asks for, as the document says that it was made with: a name that is not in it is never fetched."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

#: The file in a server that names what it fetches, and whose text is a list of names.
TABLE = "/etc/interlock/secrets.json"
#: Where a server keeps what it fetched, each under its name.
FOLDER = "/etc/interlock/secrets"
#: What the settings of `vipu` are called there: where the controller is, and user and key at it.
VIPU_KEY = "vipu"


def asked_names(user_data: str) -> frozenset[str] | None:
    """The names that a server with this document asks for; None if nobody can tell from it."""
    names = listed_in(user_data, TABLE)
    return None if names is None else frozenset(map(str, names))


def listed_in(user_data: str, path: str) -> list[Any] | None:
    """The list that a file of this document holds, empty without the file; None if nobody can tell from it."""
    import yaml  # most processes ask for none

    if not user_data:
        return []
    try:
        document = yaml.load(user_data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError:
        return None
    if not isinstance(document, Mapping):
        return None
    files = [file for file in document.get("write_files") or () if isinstance(file, Mapping)]
    text = next((file.get("content") for file in files if file.get("path") == path), "[]")
    try:
        found = json.loads(str(text))
    except ValueError:
        return None
    return found if isinstance(found, list) else None
