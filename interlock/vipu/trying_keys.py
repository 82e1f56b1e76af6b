"""Whether a controller asks for keys: the list of its agents is asked for with a key that nobody has.

A list that comes shows an open API. That it does not come shows nothing by itself: a release may not know the flag, a
line may be wrong, a server may be away. It counts as refused only if the controller says that it is about who asks, in
a word of gRPC's for that, while a flag that no release has is answered otherwise. All else is not known, with a reason.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from . import answers
from .answers import VipuMisread
from .client import ControllerClient
from .commands import VipuLine
from .errors import VipuError
from .transport import Ran

#: Eleven characters, as keys have; a key is made at random, so this one is nobody's.
NO_KEY = "nobodys-key"
#: No release has such a flag.
NO_FLAG = "--nobodys-flag"
#: gRPC documentation, status codes 16 and 7, as its libraries write them; in two words the second one is of a file.
_ABOUT_WHO_ASKS = re.compile(r"(?i)\b(?:unauthenticated|permission_denied|permissiondenied)\b")
_USAGE = re.compile(r"(?i)\busage\b")


@dataclass(frozen=True)
class TriedKey:
    """Whether a wrong key is refused, and why that is not known."""

    asked: bool | None
    why: str = ""


def tried(client: ControllerClient) -> TriedKey:
    """Try it. Changes nothing there."""
    spelt = client.lines.spelling.of("access-key")
    if not spelt:
        return TriedKey(None, "it was not tried: `flags:` in vipu.yaml says that this release has no flag for a key")
    line = client.lines.listed_by("agent", spelt, NO_KEY)
    try:
        wrong = client.answered(line)
        unknown = client.answered(client.lines.listed_by("agent", NO_FLAG, NO_KEY))
        listed, ignored = _lists(wrong), _lists(unknown)
        # What fails while the right key lists is about the line, not about the way there.
        client.agents()
    except VipuError as error:
        return TriedKey(None, f"it was tried, and nobody knows what came of it: {error.what}")
    except VipuMisread as error:
        return TriedKey(None, f"it was tried, and the answer is not understood: {error}")
    if listed and ignored:
        return TriedKey(None, "it was tried, and its commands pass over flags that they do not know")
    return TriedKey(False) if listed else _failed(line, spelt, wrong, unknown)


def _failed(line: VipuLine, spelt: str, wrong: Ran, unknown: Ran) -> TriedKey:
    said = wrong.said if line.is_quoted else ""
    if _without(wrong, spelt) == _without(unknown, NO_FLAG):
        return TriedKey(None, f"it was tried, and a flag that no release has is answered as {spelt} is: {said}")
    text = f"{wrong.err}\n{wrong.out}"
    if _USAGE.search(text) or not _ABOUT_WHO_ASKS.search(text):
        return TriedKey(None, f"it was tried and failed, which need not be for the key: {said}")
    return TriedKey(True)


def _lists(ran: Ran) -> bool:
    """Raises VipuMisread if it ended well and is no list."""
    if ran.code != 0:
        return False
    answers.each(ran.out, answers.agent_of)
    return True


def _without(ran: Ran, flag: str) -> tuple[int, str]:
    """What it ended with and said, whatever the flag is called."""
    return ran.code, re.sub(rf"-*{re.escape(flag.lstrip('-'))}\b", "<flag>", f"{ran.err}\n{ran.out}")
