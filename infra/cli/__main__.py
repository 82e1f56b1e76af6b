"""`python -m infra.cli`: the `interlock` command without an installed script."""

from __future__ import annotations

from infra.cli.main import main

if __name__ == "__main__":
    main()
