"""A cluster as it is planned with two heads: slurmdbd and MariaDB at the first, a second controller at the other.

Files are those of the servers' user data, at addresses of the plan.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from interlock.model.tenant.request import SlurmOptions
from interlock.planning.plan import Plan
from interlock.planning.scheduler.slurm import SLURMDBD_CONF, SLURMDBD_PASSWORD
from interlock.resources import Port
from tests.builders.gpu_heads import head_claims, headed, site_with_heads
from tests.builders.gpu_plans import clusters_planned
from tests.builders.gpu_sites import gpu_tenant

from .clusters import STATE
from .hall import SlurmHall, SlurmServer, forced, program, require_slurm, slurm_hall

FIRST, SECOND = "acme-train-head-0", "acme-train-head-1"
NODES = ("acme-train-node-0", "acme-train-node-1")
#: System tables of MariaDB, as Debian ships them.
_TABLES = Path("/usr/share/mysql")
_PASSWORD = "not-a-secret"
_SQL = f"CREATE USER slurm@localhost IDENTIFIED BY '{_PASSWORD}';\nGRANT ALL ON slurm_train.* TO slurm@localhost;\n"


def planned() -> Plan:
    """Two nodes and two heads, with all that a request can ask of Slurm."""
    slurm = SlurmOptions(controllers=2, state=STATE, accounting=True)
    claims = head_claims(1, (1, 1), (1, 2), heads=("head-1", "head-2"))
    return clusters_planned(gpu_tenant("acme", headed(2, slurm=slurm)), [claims], site_with_heads())


def files(plan: Plan, server: str) -> dict[str, str]:
    document = yaml.safe_load(plan.by_name[server].resource.canonical()["user_data"])
    found = {item["path"]: item["content"] for item in document["write_files"]}
    return forced(found) if server in NODES else found


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmHall]:
    """All daemons but the second controller, started in the order that the documentation gives."""
    require_slurm()
    folder, plan = tmp_path_factory.mktemp("heads"), planned()
    ports = {name: plan.by_name[f"{name}-cluster"].resource for name in (FIRST, SECOND, *NODES)}
    addresses = {name: port.address for name, port in ports.items() if isinstance(port, Port)}
    with slurm_hall(folder, {name: files(plan, name) for name in addresses}, addresses) as found:
        state = folder / "shared" / Path(STATE).name
        state.mkdir()
        shutil.chown(state, "slurm")
        first = found.servers[FIRST]
        _start_database(found, first)
        _start_accounting(found, first)
        first.start("slurmctld", "-D")
        for name in NODES:
            found.servers[name].start("slurmd", "-D")
        asked = ("sinfo", "--noheader", "--states=idle", "--format=%D")
        found.wait("both nodes idle", lambda: first.run(*asked).stdout.strip() == "2")
        yield found


def _start_database(hall: SlurmHall, server: SlurmServer) -> None:
    data = hall.folder / "database"
    data.mkdir()
    # What mariadb-install-db does; that needs a program of another package.
    tables = "".join((_TABLES / f"mysql_system_tables{part}.sql").read_text(encoding="utf-8") for part in ("", "_data"))
    bootstrap = (program("mariadbd"), "--no-defaults", "--bootstrap", f"--datadir={data}", "--user=root")
    text = f"CREATE DATABASE mysql;\nUSE mysql;\n{tables}"
    subprocess.run(bootstrap, input=text, text=True, check=True, capture_output=True)
    start = hall.folder / "start.sql"
    start.write_text(_SQL, encoding="utf-8")
    server.say("mkdir", "/run/mysqld")
    socket = "/run/mysqld/mysqld.sock"
    own = ("--no-defaults", f"--datadir={data}", "--user=root", f"--init-file={start}", "--skip-networking")
    server.start("mariadbd", *own, f"--socket={socket}")
    hall.wait("the database answers", lambda: server.run("test", "-S", socket).returncode == 0)


def _start_accounting(hall: SlurmHall, server: SlurmServer) -> None:
    folder = server.folder / "etc-slurm"
    (folder / Path(SLURMDBD_PASSWORD).name).write_text(f"StoragePass={_PASSWORD}\n", encoding="utf-8")
    for path in (SLURMDBD_CONF, SLURMDBD_PASSWORD):
        file = folder / Path(path).name
        file.chmod(0o600)
        shutil.chown(file, "slurm", "slurm")
    server.start("slurmdbd", "-D")
    asked = ("sacctmgr", "--noheader", "--parsable2", "show", "cluster", "format=cluster")
    hall.wait("slurmdbd answers", lambda: server.run(*asked).returncode == 0)


def recorded(server: SlurmServer, job: str) -> str:
    """State, GPUs and nodes of a job in the accounting."""
    asked = ("--noheader", "--parsable2", "--allocations", f"--jobs={job}", "--format=state,alloctres,nodelist")
    return server.run("sacct", *asked).stdout.strip()


def submitted(server: SlurmServer) -> str:
    wanted = ("--parsable", "--nodes=2", "--gres=gpu:8", "--output=/dev/null", "--wrap=srun hostname")
    return server.say("sbatch", *wanted).strip()


def is_recorded(server: SlurmServer, job: str) -> bool:
    found = recorded(server, job)
    return found.startswith("COMPLETED|") and "gres/gpu=16" in found and found.endswith("|acme-train-node-[0-1]")


def test_a_job_from_the_head_is_in_the_accounting_with_its_gpus(hall: SlurmHall) -> None:
    first = hall.servers[FIRST]
    job = submitted(first)
    hall.wait("the job is recorded", lambda: is_recorded(first, job))


def test_the_second_head_takes_over_and_goes_on_recording(hall: SlurmHall) -> None:
    first, second = hall.servers[FIRST], hall.servers[SECOND]
    second.start("slurmctld", "-D")
    hall.wait("the second stands by", lambda: second.run("scontrol", "ping").stdout.count(" is UP") == 2)
    first.kill("slurmctld")
    second.say("scontrol", "takeover")
    nodes = ("timeout", "1", "scontrol", "--oneliner", "show", "nodes")
    hall.wait("nodes registered", lambda: second.run(*nodes).stdout.count(" Version=") == len(NODES))
    job = submitted(second)
    hall.wait("the job is recorded", lambda: is_recorded(second, job))
