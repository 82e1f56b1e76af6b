"""Texts without the secrets of this process.

Services, libraries and proxies put what they were given into their error texts, and those reach the operator, logs and
the engine's state. So every secret is made known here when it is first held, and every failure's text passes here.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Mapping

#: Stands where a secret stood.
MASK = "[secret]"

#: Shorter secrets are not looked for: they would be found in ordinary words. No such password is safe anyway.
SHORTEST = 8

#: Keys of an entry of clouds.yaml whose values are secret, by a part of their names.
_SECRET_KEYS = ("password", "secret", "token", "passcode")

#: User and password in an address.
_IN_ADDRESS = re.compile(r"(?<=://)[^/@\s]+(?=@)")


class Redactor:
    """The secrets known so far. Any thread may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: frozenset[str] = frozenset()

    def add(self, *values: object) -> None:
        """Take note of secrets; what is too short to be told from ordinary words is left out."""
        texts = {str(value) for value in values if value is not None}
        with self._lock:
            self._values |= {text for text in texts if len(text) >= SHORTEST}

    def add_login(self, auth: Mapping[str, object]) -> None:
        """Take note of the secrets in the `auth` of an entry of clouds.yaml."""
        self.add(*(value for key, value in auth.items() if any(part in key for part in _SECRET_KEYS)))

    def redact(self, text: str) -> str:
        """The text with a mask in place of each secret."""
        for value in sorted(self._values, key=len, reverse=True):
            text = text.replace(value, MASK)
        return _IN_ADDRESS.sub(MASK, text)


def quote_no_files() -> None:
    """Silence openstacksdk's warning about a clouds.yaml that is no YAML: it quotes what it did not understand there,
    such as a password that begins with `*`."""
    logging.getLogger("openstack.config").setLevel(logging.ERROR)


#: One for the whole process: a secret of one part may turn up in the text of any other.
REDACTOR = Redactor()
