"""`python -m interlock.provider <engine address>`: serves, and prints the port on stdout."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import warnings

from interlock.deferred_imports import defer
from interlock.garbage import importing

# Every run waits for this process to start, and of the SDK it needs the gRPC stubs alone.
defer("pulumi", "pulumi.runtime", "pulumi.runtime.proto")

with importing():
    from .serving import serve

if __name__ == "__main__":
    # stdout belongs to the protocol; what libraries log on stderr Pulumi shows only if this process dies.
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR)
    warnings.simplefilter("ignore")  # libraries' notes to developers are no news to an operator
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(sys.stdout, *sys.argv[1:2]))
