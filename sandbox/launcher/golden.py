"""The golden image: empty databases with their schemas, keys, service users and endpoints.

Made once, with a Keystone that runs for a few seconds, and copied for every new or
reset instance. Two tables hold an instance's addresses and paths and are rewritten
in the copy: Keystone's endpoints and Nova's cell mappings.
"""

import shutil
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

from sandbox.launcher import configuration, ports, processes, stamps
from sandbox.launcher.catalogue import ENDPOINTS, PROCESSES, SCHEMAS, STATE_FOLDERS
from sandbox.launcher.errors import with_log
from sandbox.launcher.install import run_logged
from sandbox.launcher.layout import BASE, GOLDEN, Instance
from sandbox.launcher.making import discard, making
from sandbox.launcher.progress import step

AT_ONCE = 2


def ensure() -> bool:
    """Make the golden image unless it is there and current. Returns whether anything was done.

    A workshop that failed stays, because its logs tell why; one that was interrupted goes.
    """
    if stamps.carries(GOLDEN, stamps.sources()):
        return False
    workshop = Instance(BASE / "workshop")
    discard(workshop.folder)
    try:
        build(workshop)
        with making(GOLDEN) as folder:
            shutil.copytree(workshop.state, folder, dirs_exist_ok=True)
            stamps.put(folder, stamps.sources())
    except KeyboardInterrupt:
        discard(workshop.folder)
        raise
    discard(workshop.folder)
    return True


def build(workshop: Instance) -> None:
    """Make schemas and seed data in an instance of its own."""
    prepare(workshop)
    configuration.write(workshop, ports.renew(workshop))
    with step("database schemas"):
        make_schemas(workshop)
    with step("service users and endpoints"):
        identity = tuple(process for process in PROCESSES if process.name == "identity")
        processes.start(workshop, identity)
        try:
            seed(workshop)
        finally:
            processes.stop(workshop, identity)
    for database in sorted((workshop.state / "db").glob("*.db")):
        flush(database)


def prepare(instance: Instance) -> None:
    """Make the folders that services expect."""
    for folder in (instance.logs, instance.run, *(instance.state / name for name in STATE_FOLDERS)):
        folder.mkdir(parents=True, exist_ok=True)


def make_schemas(workshop: Instance) -> None:
    """Run each project's own schema code, two at a time."""
    waiting, under_way = list(SCHEMAS), list[tuple[str, subprocess.Popen[bytes]]]()
    try:
        while waiting or under_way:
            while waiting and len(under_way) < AT_ONCE:
                name = waiting.pop(0)
                under_way.append((name, schema_process(workshop, name)))
            time.sleep(0.05)
            under_way = [(name, child) for name, child in under_way if not finished(workshop, name, child)]
    finally:
        for _, child in under_way:
            child.kill()
            child.wait()


def schema_process(workshop: Instance, name: str) -> subprocess.Popen[bytes]:
    """Start making one schema."""
    with schema_log(workshop, name).open("wb") as output:
        return subprocess.Popen(
            configuration.command("sandbox.services.schemas", name),
            cwd=workshop.folder,
            env=configuration.environment(workshop),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )


def schema_log(workshop: Instance, name: str) -> Path:
    """What making one schema printed."""
    return workshop.logs / f"schema-{name}.out"


def finished(workshop: Instance, name: str, child: subprocess.Popen[bytes]) -> bool:
    """Whether a schema is made; an error when making it failed."""
    code = child.poll()
    if code:
        raise with_log(f"making the schema of {name} failed (exit code {code})", schema_log(workshop, name))
    return code is not None


def seed(workshop: Instance) -> None:
    """Service users, people, roles and endpoints, through Keystone's own API."""
    log = workshop.logs / "seed.out"
    run_logged(
        configuration.command("sandbox.services.seed"), log, "seeding Keystone", configuration.environment(workshop)
    )


def flush(database: Path) -> None:
    """Fold SQLite's write-ahead log into the database file, so that the file alone can be copied."""
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def copy_to(instance: Instance) -> None:
    """Give an instance fresh state, whole or not at all."""
    with making(instance.state) as folder:
        shutil.copytree(GOLDEN, folder, dirs_exist_ok=True)
        stamps.put(folder, stamps.pins())


def address(instance: Instance, chosen: dict[str, int]) -> None:
    """Write the instance's own ports and paths into its databases."""
    with closing(sqlite3.connect(instance.state / "db" / "keystone.db")) as connection, connection:
        for endpoint in ENDPOINTS:
            connection.execute(
                "UPDATE endpoint SET url = ? WHERE service_id IN (SELECT id FROM service WHERE type = ?)",
                (endpoint.url(chosen), endpoint.type),
            )
    with closing(sqlite3.connect(instance.state / "db" / "nova_api.db")) as connection, connection:
        for cell, database in (("cell0", "nova_cell0"), ("cell1", "nova")):
            connection.execute(
                "UPDATE cell_mappings SET database_connection = ? WHERE name = ?",
                (f"sqlite:///{instance.state}/db/{database}.db?timeout=60", cell),
            )
