"""The examples that need no cloud, run as they stand, page by page, in a folder like the root."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, offline, pages

#: `./run` of the prepared root, with the stacks of the folder that it stands in.
RUN = """\
#!/bin/sh
INTERLOCK_STACKS="$(pwd)/stacks" exec {run} "$@"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the stacks and a `./run`, in which an example may write."""
    shutil.copytree(ROOT / "stacks", tmp_path / "stacks")
    run = tmp_path / "run"
    run.write_text(RUN.format(run=ROOT / "run"))
    run.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("page", [page for page in pages() if offline(page)])
def test_examples_do_what_the_page_says(page: str, folder: Path) -> None:
    without_cloud = {"NO_COLOR": "1", "OS_CLIENT_CONFIG_FILE": str(folder / "no-clouds.yaml")}
    for example in offline(page):
        done = subprocess.run(
            ["sh", "-eu", "-c", example.block.text],
            cwd=folder, env=os.environ | without_cloud, check=False, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert done.returncode == example.block.exit, f"{example.block.place}:\n{done.stdout}"
        assert example.missing(done.stdout) == [], f"{example.block.place} printed:\n{done.stdout}"
