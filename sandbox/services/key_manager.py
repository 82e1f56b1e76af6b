"""Barbican: the API, over its own store of ciphertexts in the database.

Stand-in: what keeps the master key. `simple_crypto` reads it from the configuration, where anybody may read it.
"""

# What is patched or imitated here is private to a project, and its signatures are given.
# ruff: noqa: SLF001

import functools
import sys
from pathlib import Path
from typing import Any

from sandbox.services import kept, process, sqlite
from sandbox.services.process import Here


def read_configuration(instance: Here) -> None:
    """Let Barbican and its plugins read the instance's file.

    Barbican parses its configuration when it is imported, and each plugin a copy of its own; all of them look below
    /etc only. What was parsed first is parsed again.
    """
    sys.argv = ["barbican"]
    sqlite.tune()
    kept.keep()

    from barbican.common import config

    config.parse_args = functools.partial(
        config.parse_args, default_config_files=[str(instance.conf / "barbican.conf")]
    )
    config.parse_args(config.CONF)


def write_at_once() -> None:
    """Let each transaction take the write lock when it begins.

    Barbican's sessions are SQLAlchemy's own, so that oslo.db does not know which of them write.
    """
    from barbican.model import repositories

    original = repositories._create_engine

    def create_engine() -> Any:
        return original().execution_options(sandbox_begin="IMMEDIATE")

    repositories._create_engine = create_engine


def create_tables() -> None:
    """Barbican's tables, from its models, stamped as current."""
    from barbican.model import models, repositories
    from barbican.model.migration import commands

    engine = repositories._create_engine()
    models.BASE.metadata.create_all(engine)
    commands.stamp()


def paste_file() -> Path:
    """The pipelines, as Barbican's package brings them."""
    return Path(sys.prefix) / "etc" / "barbican" / "barbican-api-paste.ini"


def main() -> None:
    """Start the API and wait."""
    instance = process.here()
    process.die_when_uncaught()
    read_configuration(instance)
    write_at_once()

    from paste import deploy

    application = deploy.loadapp(f"config:{paste_file()}", name="main")
    process.serve(instance, "barbican", application)

    process.die_when_uncaught()
    process.ready(instance, "barbican")
    process.wait_for_the_end()


if __name__ == "__main__":
    main()
