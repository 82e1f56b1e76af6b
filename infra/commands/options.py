"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

Site = Annotated[str, typer.Option("--site", "-s", metavar="FOLDER", help="Folder of the site below stacks/.")]
