"""Asks the real S3 servers what they do, and writes it down: `python -m tests.buckets.ask`.

It starts an embedded cloud and a Versity gateway of its own. What is written, plans of buckets are held against; a
test asks again and compares (tests/buckets/test_bucket_capabilities.py).
"""

from __future__ import annotations

import datetime
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.conftest import ROOT, Sandbox
from tests.sandbox.cloud import Cloud

from .probe import Server, ask
from .servers import swift_of, versity_in

CAPABILITIES = ROOT / "interlock" / "object_storage" / "capabilities.json"


def asked(server: Server) -> dict[str, Any]:
    """The file's entry of one server."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return {"asked": today, "release": server.release, "capabilities": ask(server)}


def main() -> int:
    """Write the file, and say what became different."""
    sandbox = Sandbox(ROOT / ".interlock" / "asked-sandbox")
    with tempfile.TemporaryDirectory() as folder, versity_in(Path(folder)) as (_, gateway):
        found = {"versity": asked(gateway)}
    sandbox.supervise("reset")
    try:
        found["swift"] = asked(swift_of(Cloud(sandbox)))
    finally:
        sandbox.supervise("down")
    text = json.dumps(dict(sorted(found.items())), indent=2) + "\n"
    before = CAPABILITIES.read_text(encoding="utf-8") if CAPABILITIES.is_file() else ""
    CAPABILITIES.write_text(text, encoding="utf-8")
    print(f"{CAPABILITIES.relative_to(ROOT)}: {'as it was' if text == before else 'changed'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
