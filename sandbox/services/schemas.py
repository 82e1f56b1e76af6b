"""Makes the database schema of one service with the project's own code: `schemas NAME`.

Neutron's, Manila's and Barbican's come from their models and are then stamped as current: hundreds
of migrations for an empty database would take twenty seconds and end at the same tables.
"""

import grp
import os
import pwd
import sys
import traceback
from collections.abc import Callable
from typing import Any

from sandbox.services import process, sqlite
from sandbox.services.process import Here


def forked(work: Callable[[], Any]) -> None:
    """Run a management command in a child: each one wants a fresh configuration object.

    Importing once and forking is four times as fast as starting Python for each command.
    """
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = int(work() or 0)
        except SystemExit as end:
            code = int(end.code or 0)
        except BaseException:  # noqa: BLE001  the child must never run on into the parent's code
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    if os.waitpid(child, 0)[1]:
        raise SystemExit("a management command failed; its output is above")


def command(entry: Callable[[], Any], line: list[str]) -> Callable[[], Any]:
    """A management command that reads its words from sys.argv."""

    def run() -> Any:
        sys.argv = line
        return entry()

    return run


def words(instance: Here, program: str, file: str, *rest: str) -> list[str]:
    """A command line of one of the projects' own programs."""
    return [program, "--config-file", str(instance.conf / file), *rest]


def keystone(instance: Here) -> None:
    """Schema, token and credential keys, and the administrator."""
    from keystone.cmd import cli, manage  # noqa: F401  (manage registers what cli needs)

    from sandbox.launcher.catalogue import PASSWORD, REGION

    def entry() -> Any:
        return cli.main(argv=sys.argv, developer_config_file=None)

    base = words(instance, "keystone-manage", "keystone.conf")
    forked(command(entry, [*base, "db_sync"]))
    user, group = pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(os.getgid()).gr_name
    for name in ("fernet_setup", "credential_setup"):
        forked(command(entry, [*base, name, "--keystone-user", user, "--keystone-group", group]))
    url = instance.url("keystone") + "/v3"
    addresses = [f"--bootstrap-{kind}-url={url}" for kind in ("public", "internal", "admin")]
    forked(
        command(
            entry, [*base, "bootstrap", "--bootstrap-password", PASSWORD, "--bootstrap-region-id", REGION, *addresses]
        )
    )


def nova(instance: Here) -> None:
    """API database, cell 0 and the one real cell."""
    os.environ["OS_NOVA_DISABLE_EVENTLET_PATCHING"] = "1"
    from nova.cmd import manage

    def run(*rest: str) -> None:
        forked(command(manage.main, words(instance, "nova-manage", "nova.conf", *rest)))

    database = f"sqlite:///{instance.state}/db/%s.db?timeout=60"
    run("api_db", "sync")
    run("cell_v2", "map_cell0", "--database_connection", database % "nova_cell0")
    run("db", "sync")
    run(
        "cell_v2",
        "create_cell",
        "--name",
        "cell1",
        "--database_connection",
        database % "nova",
        "--transport-url",
        "fake://",
    )


def placement(instance: Here) -> None:
    """Placement's tables."""
    from placement.cmd import manage

    command(manage.main, words(instance, "placement-manage", "placement.conf", "db", "sync"))()


def glance(instance: Here) -> None:
    """Glance's tables."""
    from glance.cmd import manage

    command(manage.main, words(instance, "glance-manage", "glance-api.conf", "db", "sync"))()


def cinder(instance: Here) -> None:
    """Cinder's tables."""
    import oslo_service.backend

    oslo_service.backend.init_backend(oslo_service.backend.BackendType.THREADING)
    from cinder.cmd import manage

    command(manage.main, words(instance, "cinder-manage", "cinder.conf", "db", "sync"))()


def ironic(instance: Here) -> None:
    """Ironic's tables."""
    from ironic.command import dbsync

    command(dbsync.main, words(instance, "ironic-dbsync", "ironic.conf", "create_schema"))()


def create_tables(instance: Here, name: str, metadata: Any) -> None:
    """All tables of a project's models."""
    import sqlalchemy

    engine = sqlalchemy.create_engine(f"sqlite:///{instance.state}/db/{name}.db")
    with engine.begin() as connection:
        metadata.create_all(connection)


def manila(instance: Here) -> None:
    """Manila's tables, from its models."""
    from manila.cmd import manage
    from manila.db.sqlalchemy import models

    create_tables(instance, "manila", models.BASE.metadata)
    command(manage.main, words(instance, "manila-manage", "manila.conf", "db", "stamp", "head"))()


def barbican(instance: Here) -> None:
    """Barbican's tables."""
    from sandbox.services import key_manager

    key_manager.read_configuration(instance)
    key_manager.create_tables()


def neutron(instance: Here) -> None:
    """Neutron's tables, from its models; importing `head` imports all of them."""
    import neutron.db.migration.models.head  # noqa: F401
    from neutron.db.migration import cli
    from neutron_lib.db import model_base

    create_tables(instance, "neutron", model_base.BASEV2.metadata)
    command(cli.main, words(instance, "neutron-db-manage", "neutron.conf", "stamp", "heads"))()


MAKERS: dict[str, Callable[[Here], None]] = {
    "keystone": keystone,
    "placement": placement,
    "glance": glance,
    "cinder": cinder,
    "ironic": ironic,
    "nova": nova,
    "manila": manila,
    "neutron": neutron,
    "barbican": barbican,
}


def main() -> None:
    """Make the schema that the command line names."""
    process.die_when_uncaught()
    maker = MAKERS[sys.argv[1]]
    sqlite.tune()
    maker(process.here())


if __name__ == "__main__":
    main()
