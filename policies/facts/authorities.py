"""Certificate authorities that a server's sshd trusts, as its user data says: whoever has one's key gets in.

sshd_config(5), `TrustedUserCAKeys`: a file of public keys, or `none`. sshd(8): `cert-authority` before a key in
`authorized_keys` is one too; that key is a login key like others there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import yaml

from interlock.vocabulary.ssh_keys import login_fingerprints

from .user_data import contents

_WORD = "trustedusercakeys"
#: In a configuration, or in a command that writes one; behind `#` it says nothing. A quoted string has `\\n` after it.
_TRUSTED = re.compile(r"^[^#\n]*?\bTrustedUserCAKeys[ \t=]+[\"']?([^\s\"'\\]+)", re.IGNORECASE | re.MULTILINE)
_NONE = "none"
_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Authorities:
    """Fingerprints of authorities, and files of such keys that the user data does not write."""

    fingerprints: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()


@lru_cache(maxsize=1 << 13)
def authorities(document: str) -> Authorities:
    """Those that a document makes its server trust. Never raises."""
    texts = [piece.text for piece in contents(document).pieces if _WORD in piece.text.lower()]
    files = dict(_files(document)) if texts else {}
    # The file as it will be written too: YAML may break its lines elsewhere.
    named = {path for text in (*texts, *files.values()) for path in _TRUSTED.findall(text)}
    keys = {key for path in named & files.keys() for key in login_fingerprints(files[path])}
    return Authorities(tuple(sorted(keys)), tuple(sorted(named - files.keys() - {_NONE})))


def _files(document: str) -> Iterator[tuple[str, str]]:
    """(path, text) of the files that cloud-init writes as they stand there; one that is encoded is not among them."""
    try:
        said = yaml.load(document, Loader=_LOADER)
    except (yaml.YAMLError, ValueError):
        return
    files = said.get("write_files") if isinstance(said, dict) else None
    for item in files if isinstance(files, list) else ():
        if isinstance(item, dict) and "encoding" not in item:
            path, text = item.get("path"), item.get("content")
            if isinstance(path, str) and isinstance(text, str):
                yield path, text
