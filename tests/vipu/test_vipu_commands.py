"""The commands on a served controller: their words, answers, files, exit codes, TLS and settings."""

from __future__ import annotations

import json
import shlex
import stat
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.vipu import server_command
from sandbox.vipu.__main__ import main as own_main
from sandbox.vipu.__main__ import write_shims
from sandbox.vipu.certificates import make_certificates
from sandbox.vipu.commands import COMMANDS
from sandbox.vipu.controller import ControllerSettings
from sandbox.vipu.flags import FLAGS, SERVER_FLAGS
from sandbox.vipu.racks import changed, rack_of
from sandbox.vipu.scene import ApiName
from sandbox.vipu.serving import Serving, ServingSettings
from sandbox.vipu.shims import main
from sandbox.vipu.words import help_of

from .desk import AT_ONCE, Desk

Run = Callable[..., str]


@pytest.fixture
def served(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serving]:
    """Two APIs on two ports, asked from a folder of its own."""
    home = desk.folder / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    monkeypatch.setenv("HOME", str(home))
    desk.controller.settings = ControllerSettings(durations=AT_ONCE, interfaces=("bmc0",))
    with Serving(desk.controller).running() as serving:
        yield serving


@pytest.fixture
def run(served: Serving, capsys: pytest.CaptureFixture[str]) -> Run:
    """A command line of `vipu-admin` or `vipu`, its exit code, and what it says."""

    def asked(line: str, code: int = 0, api: ApiName = "admin") -> str:
        host, port = served.admin if api == "admin" else served.user
        done = main([*shlex.split(line), "-H", host, "--api-port", str(port)], api)
        said = capsys.readouterr()
        assert done == code, said
        return said.out if code == 0 else said.err

    return asked


def _cluster(run: Run, count: int = 2) -> None:
    for number in range(1, count + 1):
        run(f"create agent ag{number} --host 10.2.1.{number} --port 8080")
    run(f"create cluster c --agents {','.join(f'ag{number}' for number in range(1, count + 1))}")
    run("create allocation alloc-1 --cluster c")


def test_success_is_told_as_in_the_guide(run: Run) -> None:
    assert run("create agent ag1 --host 10.2.1.1 --port 8080") == "create agent (ag1): success.\n"


def test_a_users_key_and_file_are_as_in_the_guide(run: Run) -> None:
    first, second, third = run("create user alice").splitlines()
    assert first.startswith("create user (alice): success. Access key is '")
    assert second == "vipu configuration file for the user 'alice' written: alice.vipu-cli.hcl"
    assert third == "Use 'vipu --config alice.vipu-cli.hcl' to switch to the user context."
    assert stat.S_IMODE(Path("alice.vipu-cli.hcl").stat().st_mode) == 0o600


def test_the_file_leads_to_the_user_api(run: Run, served: Serving, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the two APIs are apart, the file that an admin's command wrote names the other one."""
    _cluster(run)
    run("create user alice --allocations alloc-1")
    assert main(["--config", "alice.vipu-cli.hcl", "list", "allocations"], "user") == 0
    assert "alloc-1" in capsys.readouterr().out
    assert f"api-port={served.user[1]}" in Path("alice.vipu-cli.hcl").read_text()
    assert served.user != served.admin


def test_allocations_are_a_table_as_in_the_guide(run: Run) -> None:
    _cluster(run)
    assert run("list allocations", api="user").splitlines() == [
        "-------------------------",
        " Allocation ID | Agents",
        "-------------------------",
        " alloc-1       | ag1 ag2",
        "-------------------------",
    ]


def test_partitions_are_a_table_whose_columns_drift(run: Run, desk: Desk) -> None:
    """Older releases have the columns of public notes; newer ones have one more, which breaks `cut`."""
    _cluster(run)
    run("create partition p8 --size 8", api="user")
    newer = run("list partitions", api="user").splitlines()
    assert newer[0].split("|")[1].strip() == "Allocation"
    assert newer[2].split("|")[1].strip() == "alloc-1"
    desk.controller.settings = ControllerSettings(durations=AT_ONCE, release="1.14.3")
    head, _, row, _ = run("list partitions", api="user").splitlines()
    assert [cell.strip() for cell in head.split("|")] == [
        "Partition", "Cluster", "ILDs", "GW Routing", "ILD Routing", "Size", "GCDs", "State",
    ]  # fmt: skip
    assert [cell.strip() for cell in row.split("|")] == ["p8", "c", "1", "DEFAULT", "DEFAULT", "8", "1", "ACTIVE"]


def test_json_is_as_the_public_client_reads_it(run: Run) -> None:
    """graphcore/poptorch reads these paths, and no others."""
    _cluster(run)
    run("-a --showjson create partition part --size 4 --num-gcds 2 --gcd-sync-replicas 4", api="user")
    clusters = json.loads(run("-a --showjson list cluster", api="user"))
    assert len(clusters[0]["spec"]["ipu_link_domains"][0]["ipus"]) == 8
    found = json.loads(run("-a --showjson list partition", api="user"))[0]["partition"]
    assert (found["id"], len(found["spec"]["ipus"])) == ("part", 4)
    assert (found["spec"]["num_gcds"], found["spec"]["num_replicas"]) == (2, 4)
    assert found["status"]["state"] == "PS_ACTIVE"
    run("-a --showjson reset partition part", api="user")
    run("-a --showjson delete partition part", api="user")
    assert json.loads(run("-a --showjson list partition", api="user")) == []


def test_every_list_is_a_table_too(run: Run) -> None:
    _cluster(run)
    run("create user alice --allocations alloc-1")
    assert "SIM-0101-0" in run("list agents")
    assert "8080" in run("get agent ag1")
    assert "mesh" in run("get cluster c")
    assert " alice | no    | alloc-1" in run("list users")
    assert " ag1   | 0   | board ipu index" in run("list ipu-attrs")
    assert "Agent Auto-Add ID" in run("discover agent")
    assert "ag.01.03" in run("discover agent")


def test_ipuof_configurations_stand_below_one_line(run: Run) -> None:
    """Scripts cut the first line off."""
    _cluster(run)
    run("create partition p --size 4", api="user")
    first, rest = run("get partition p --gcd 0 --ipuof-configs", api="user").split("\n", 1)
    assert "simulator" in first
    assert len(json.loads(rest)["devices"]) == 4


def test_the_creators_file_comes_and_goes(run: Run) -> None:
    """For the user who made the partition: nobody else reads it. An admin's command writes none."""
    _cluster(run)
    run("create partition ipu --size 4", api="user")
    file = Path.home() / ".ipuof.conf.d" / "ipu.conf"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text())[0]["partition"] == "ipu"
    run("remove partition ipu", api="user")
    assert not file.exists()
    run("create partition other --size 4")
    assert not list(file.parent.iterdir())


def test_what_is_refused_is_one_line_and_exit_code_1(run: Run) -> None:
    _cluster(run)
    said = run("create partition p --size 3", code=1, api="user")
    assert said == "create partition (p): failed: INVALID_ARGUMENT: size 3 is not a power of 2\n"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("create thing x", "unknown command create thing"),
        ("update partition p --size 8", "unknown command update partition"),
        ("create agent", "create agent takes one id"),
        ("list agents x", "list agent takes no id"),
        ("create agent a --size 4", "create agent has no flag --size"),
        ("create partition p --size four", "--size 'four' is no number"),
        ("create partition p --size", "--size '-H' is no number"),
        ("list agents --what", "unknown flag --what"),
        ("list agents --showjson=yes", "--showjson takes no value"),
        ("", "unknown command (none)"),
    ],
)
def test_wrong_words_are_exit_code_2(run: Run, line: str, told: str) -> None:
    assert run(line, code=2) == f"vipu-admin: {told}; see vipu-admin --help\n"


def test_vipu_knows_no_command_of_admins(run: Run) -> None:
    assert "unknown command create user" in run("create user eve", code=2, api="user")
    assert "unknown command list agents" in run("list agents", code=2, api="user")


def test_a_controller_that_is_away_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["-H", "127.0.0.1", "--api-port", "1", "list", "partitions"], "user") == 1
    assert "UNAVAILABLE: no controller at 127.0.0.1:1" in capsys.readouterr().err
    assert main(["--config", str(tmp_path / "none"), "list", "partitions"], "user") == 2
    broken = tmp_path / "broken.hcl"
    broken.write_text('api-host="x"\napi host\n')
    assert main(["--config", str(broken), "list", "partitions"], "user") == 2
    said = capsys.readouterr().err
    assert f"{tmp_path}/none: No such file" in said
    assert f"{broken}:2: write KEY" in said


def test_the_host_may_stand_in_a_variable(
    served: Serving, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", "partitions"], "user") == 2
    monkeypatch.setenv("VIPU_CLI_API_HOST", served.user[0])
    assert main(["--server-version", "--api-port", str(served.user[1])], "user") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].endswith(f"{served.user[0]}:{served.user[1]}")


def test_a_release_stands_above_the_address_it_is_read_from(run: Run, served: Serving, desk: Desk) -> None:
    """As `interlock controllers` reads it for LIF-08: of the controller, not of the command."""
    desk.controller.settings = replace(desk.controller.settings, release="1.17.3")
    host, port = served.user
    assert run("--server-version", api="user").splitlines() == ["version: 1.17.3 (simulator)", f"host: {host}:{port}"]


def test_waiting_ends(run: Run, desk: Desk) -> None:
    """The partition goes on being made; a later question finds it, or finds it in ERROR."""
    _cluster(run)
    desk.becomes(changed(desk.hardware(), "10.2.1.1", answers=False))
    said = run("create partition p --size 8 --timeout 0", code=1, api="user")
    assert said == "create partition (p): failed: DEADLINE_EXCEEDED: partition 'p' is still PS_PENDING after 0.0 s\n"
    desk.clock.passes(60)
    said = run("reset partition p --timeout 0", code=1, api="user")
    assert "DEADLINE_EXCEEDED" in said
    desk.clock.passes(60)
    assert "ERROR" in run("list partitions", api="user")
    assert run("create partition q --size 4 --no-wait", code=1, api="user").count("RESOURCE_EXHAUSTED") == 1


def test_tls_asks_both_sides(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    files = make_certificates(desk.folder / "state")
    foreign = make_certificates(desk.folder / "foreign")
    with Serving(desk.controller).running() as serving:
        words = ["list", "partitions", "-H", serving.user[0], "--api-port", str(serving.user[1])]
        own = ["--tls-cert", str(files.client_chain), "--tls-key", str(files.client_key)]
        assert main([*words, "--tls-ca", str(files.authority), *own], "user") == 0
        assert main(words, "user") == 1
        assert main([*words, "--tls-ca", str(files.authority)], "user") == 1
        assert main([*words, "--tls-ca", str(foreign.authority), *own], "user") == 1
        others = ["--tls-cert", str(foreign.client_chain), "--tls-key", str(foreign.client_key)]
        assert main([*words, "--tls-ca", str(files.authority), *others], "user") == 1
    assert capsys.readouterr().err.count("UNAVAILABLE") == 4


def test_one_address_has_both_apis_unless_they_are_apart(desk: Desk) -> None:
    with Serving(desk.controller, ServingSettings(admin_port=None)).running() as serving:
        assert serving.user == serving.admin
        assert main(["list", "users", "-H", serving.user[0], "--api-port", str(serving.user[1])], "admin") == 0
    with Serving(desk.controller).running() as serving:
        assert main(["list", "users", "-H", serving.user[0], "--api-port", str(serving.user[1])], "admin") == 1


def test_init_makes_an_admin_who_can_log_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "state"
    assert server_command.main(["--init", "--secure", "--default-user-id", "root", "--storage-dir", str(folder)]) == 0
    key = capsys.readouterr().out.split("'")[-2]
    assert {path.name for path in (folder / "vipu-certs").iterdir()} == {"server", "client"}
    desk = Desk(tmp_path, rack_of(2), ControllerSettings(secure=True, durations=AT_ONCE))
    assert desk.user("root", key, "admin").do("list users")[0]["spec"]["admin"] is True
    assert desk.refused("list users") == "nobody"
    assert server_command.main(["--tls-init", "--storage-dir", str(tmp_path / "other")]) == 0
    assert (tmp_path / "other" / "vipu-certs" / "client" / "ca.pem").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["--storage-dir", "x", "--durations", "partition"],
        ["--storage-dir", "x", "--durations", "other=1"],
        ["--storage-dir", "x", "--durations", "partition=-1"],
        ["--storage-dir", "x", "--fault", "create=cut-after"],
        ["--storage-dir", "x"],
        ["--secure"],
        ["--storage-dir", "x", "word"],
    ],
)
def test_wrong_words_of_the_server_are_told(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert server_command.main(words) == 2
    assert "see vipu-server --help" in capsys.readouterr().err


def test_help_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """Of every command, and with each flag and command that no source has marked as such."""
    assert main(["--help"], "user") == main(["--help"], "admin") == main([], "admin") == 0
    assert server_command.main(["--help"]) == own_main(["--help"]) == own_main([]) == 0
    said = capsys.readouterr().out
    assert said.count("SIMULATOR") == 6
    assert said.count("claims no wire compatibility") == 6
    admin = help_of("vipu-admin", "admin").splitlines()
    for item in COMMANDS:
        line = next(line for line in admin if f"{line} ".startswith(f"  {item.words} "))
        assert line.endswith((" (unverified)", " (of the simulator alone)")) is item.source.unverified
    for flag in (*FLAGS, *SERVER_FLAGS):
        starts = (f"  {flag.name} ", f"  {flag.name}, ")
        lines = [line for line in said.splitlines() if line.startswith(starts)]
        assert lines
        assert all(line.endswith("(unverified)") is flag.source.unverified for line in lines), flag.name


def test_an_operators_spelling_of_an_unverified_flag_is_taken(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "spellings.json"
    file.write_text('{"--admin": "--is-admin"}')
    monkeypatch.setenv("VIPU_SIMULATOR_FLAGS", str(file))
    run("create user root --is-admin")
    assert " root | yes" in run("list users")
    assert "unknown flag --admin" in run("create user other --admin", code=2)
    file.write_text('{"--size": "--ipus"}')
    assert "--size is no unverified flag" in run("list users", code=2)


def test_programs_for_path(run: Run, served: Serving, tmp_path: Path) -> None:
    """As a client starts them, from any folder and with nothing else in the environment."""
    _cluster(run)
    write_shims(tmp_path / "bin")
    where = ["-H", served.user[0], "--api-port", str(served.user[1])]
    done = subprocess.run(
        [tmp_path / "bin" / "vipu-cli", *where, "-a", "--showjson", "list", "cluster"],
        cwd=tmp_path, env={}, text=True, capture_output=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)[0]["id"] == "c"
    assert {path.name for path in (tmp_path / "bin").iterdir()} == {"vipu", "vipu-admin", "vipu-cli", "vipu-server"}
