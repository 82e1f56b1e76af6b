"""A process of the cloud that ends with who asked for the cloud: a run of tests that was killed stops nothing itself.

Who runs `sandbox up` by hand gets a cloud that stays, so an owner has to be named, in the environment of the command.
"""

import os
import signal
import threading
import time
from collections.abc import Mapping

from sandbox.launcher.births import birth

#: Variable of the environment that names the owner.
OWNER = "SANDBOX_OWNER"
#: Seconds between two looks at it.
LOOK_SECONDS = 1.0
#: Seconds that it may take to end as it is asked to.
STOP_SECONDS = 8.0


def owned_by(pid: int) -> dict[str, str]:
    """What the environment of the supervisor says of a process for whose time the cloud is."""
    return {OWNER: f"{pid} {birth(pid)}"}


def end_with_owner(environment: Mapping[str, str] = os.environ) -> None:
    """End this process, as the supervisor would, soon after its owner has ended. Does nothing without one."""
    pid, _, began = environment.get(OWNER, "").partition(" ")
    if pid:
        threading.Thread(target=_watch, args=(int(pid), began), daemon=True, name="owner").start()


def _watch(pid: int, began: str) -> None:
    while birth(pid) == began:
        time.sleep(LOOK_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
    # What does not heed that, or not in time, has nothing to lose any more.
    time.sleep(STOP_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)
