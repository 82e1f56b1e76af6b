"""A program that ends with the process that started it, however that ends.

The kernel sends SIGKILL to a process whose parent is gone if it asked for that, and goes on to do so across `exec`: so
what is started here is a few lines that ask, and then become the program. A handler in the parent would not do: nothing
of a process that is killed runs any more. The kernel means the thread that started the program, not its process.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

#: PR_SET_PDEATHSIG of prctl(2). Libraries that are preloaded are for the program alone, which thus gets its own
#: variables only when it begins. A parent that ended before it was asked about sends nothing any more.
_BOUND = """
import ctypes, os, signal, sys
if ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL, 0, 0, 0):
    raise OSError(ctypes.get_errno(), "prctl")
parent, count = int(sys.argv[1]), int(sys.argv[2])
own = dict(word.split("=", 1) for word in sys.argv[3 : 3 + count])
words = sys.argv[3 + count :]
if os.getppid() == parent:
    os.execve(words[0], words, {**os.environ, **own})
"""


def bound(words: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """The command that runs a program, named by its path, with these variables as long as the thread that starts it."""
    own = [f"{name}={value}" for name, value in environment.items()]
    return [sys.executable, "-I", "-S", "-c", _BOUND, str(os.getpid()), str(len(own)), *own, *words]
