#!/usr/bin/env python3
"""Entry point of the sandbox: `python3 <root>/sandbox/supervisor.py COMMAND [--dir DIR]`.

Needs nothing but Python 3.11 and its standard library; everything else is
installed by the command `install`. Works from any working directory.
"""

import sys
from pathlib import Path

# Started by its path, so Python knows only this folder; the modules are named from the repository's root.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sandbox.launcher.commands import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
