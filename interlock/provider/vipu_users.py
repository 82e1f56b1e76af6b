"""Which making of a V-IPU user a key is of: a user has the same id each time, and each time another key.

The state of a user and the ticket of its key both have a word for that making. Where they differ, the key that the
server has is dead, also if the run that made the user anew was killed before it left a key.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from interlock.resources import ID_OF, StoredCredential, VipuUser
from interlock.resources.asked_names import VIPU_KEY
from interlock.vocabulary.pair_ids import VipuId

if TYPE_CHECKING:
    from .clouds import Cloud
    from .state import Declared

#: Outputs: of a user, and of the key that was left of it.
MADE, USER_MADE = "made", "user_made"
#: Word of a key of which its run did not know which user it is of (`--target`): it is taken for one of any.
ANY = "any"


class MadeUsers:
    """Id of a V-IPU user -> the word of its making, as far as this process knows. Calls may come from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._words: dict[str, str] = {}

    def made(self, ident: str) -> None:
        """It was made just now."""
        with self._lock:
            self._words[ident] = uuid4().hex

    def taken_over(self, ident: str) -> None:
        """It is there, and no state knows since when; once for each process."""
        with self._lock:
            self._words.setdefault(ident, uuid4().hex)

    def recorded(self, ident: str, word: str) -> None:
        """The state has it; empty: since before there were such words. What this process made is younger."""
        with self._lock:
            self._words.setdefault(ident, word)

    def word(self, ident: str) -> str | None:
        """None: this process knows nothing of it."""
        return self._words.get(ident)

    def is_of_another(self, ident: str, word: str) -> bool:
        """True if a key with this word is of a user that is there no more; empty: its ticket has none."""
        known = self.word(ident)
        return known is not None and word not in (known, ANY)


def keys_of_others(cloud: Cloud, item: Declared, olds: Mapping[str, Any]) -> list[str]:
    """Hears what the state has of a user; of its key, the field behind which another user stands than it was left of.

    The engine asks of a user first, since its key refers to it.
    """
    users = cloud.controllers.users
    if isinstance(item.spec, VipuUser) and isinstance(server := item.ids.get("controller"), str):
        users.recorded(str(VipuId(server, "user", item.spec.name)), str(olds.get(MADE) or ""))
    if not isinstance(item.spec, StoredCredential) or item.spec.item != VIPU_KEY:
        return []
    user = item.ids.get("credential")
    is_another = isinstance(user, str) and users.is_of_another(user, str(olds.get(USER_MADE) or ""))
    return [f"{ID_OF}credential"] if is_another else []
