"""Where tests leave what came of each point, fault or step: a long run keeps its own beside its state."""

from __future__ import annotations

import os
from pathlib import Path

REPORTS = Path(os.environ.get("INTERLOCK_REPORTS") or Path(__file__).resolve().parents[2] / ".interlock" / "reports")
"""The folder; `./run test --long` names another one in INTERLOCK_REPORTS."""
