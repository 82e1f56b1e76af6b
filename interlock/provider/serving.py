"""The life of the process: it serves one engine, and does not outlive it."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import IO

from .notes import Notes
from .server import Servicer, start

#: Seconds between two looks whether the engine is there.
LOOK = 0.5


async def serve(out: IO[str], engine: str = "") -> None:
    """Serves until the engine ends the process, or is gone itself; the port is the only thing ever written to `out`.

    `engine`: its address, for what people are to be told.
    """
    parent = os.getppid()
    # The engine ends its plugins with SIGINT, some with calls under way if it was interrupted twice. asyncio would
    # cancel those first, of which gRPC prints a traceback; the engine shows it, and hears nothing else any more.
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, os._exit, 0)
    server, port = await start(Servicer(notes=Notes(engine)))
    out.write(f"{port}\n")
    out.flush()
    while os.getppid() == parent:
        await server.wait_for_termination(LOOK)
    # Killed, it ends nobody, and the engine has put us into a process group of our own. Whatever is under way here has
    # nobody to report to, and would go on beside the next run, which finds what there is by its markers. So it ends
    # where it stands, as the engine did.
    os._exit(1)
