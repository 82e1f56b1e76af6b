"""Certificate authorities that a planned server trusts, from the user data of its plan."""

from __future__ import annotations

import re

import yaml

#: The line of sshd's configuration that names the file of their keys.
_NAMES_FILE = re.compile(r"(?im)^\s*trustedusercakeys\s+(\S+)")


def trusted_authorities(user_data: str) -> str:
    """The text of each file that a configuration in the document names; empty for a document in another form."""
    try:
        document = yaml.safe_load(user_data)
    except yaml.YAMLError:
        return ""
    if not isinstance(document, dict):
        return ""
    files = document.get("write_files")
    said = [item for item in files if isinstance(item, dict)] if isinstance(files, list) else []
    written = {str(item.get("path")): str(item.get("content")) for item in said if "encoding" not in item}
    named = [path for text in written.values() for path in _NAMES_FILE.findall(text)]
    return "\n".join(written.get(path, "") for path in named)
