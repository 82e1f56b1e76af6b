"""`interlock ssh`, and what `interlock plan` says of ways in: by floating IP, by the bastion, or by none."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from infra.audit.comparison import Audit, audit
from interlock.provider import clouds
from interlock.provider.audit.listing import listed
from interlock.provider.audit.mirror import Mirror
from tests.builders.paper import Paper, ident
from tests.builders.paper_cloud import PaperCloud
from tests.infra.conftest import Interlock, Lyon

SSH_FROM = "  ssh_from: [198.51.100.0/24] # the office; nobody gets there without `public:` (docs/how-to/way-in.md)\n"
BASTION = "\nbastion: {host: bastion.lyon.example, user: jump, prefixes: [192.0.2.10/32]}\n"
ENTRY, SERVER = "acme-train-poplar-0-public", "acme-train-poplar-0"


def program(folder: Path, name: str, text: str) -> None:
    """A program of this name in front of all others."""
    file = folder / name
    file.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    file.chmod(0o755)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder at the head of PATH, with a `pulumi` that knows no stack."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program(folder, "pulumi", "echo 'no stack named' >&2; exit 255")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


def made_public(unlocked: Lyon, interlock: Interlock, public: str, bastion: str = "") -> None:
    """acme says this under `access.public`, or nothing, and the site has a bastion, or none; locked."""
    if public:
        unlocked.replace("tenants/acme.yaml", SSH_FROM, f"{SSH_FROM}  public: {public}\n")
    unlocked.replace("site.yaml", "\nexternal:\n", f"{bastion}\nexternal:\n")
    assert interlock("lock").code == 0


def outputs(path: Path, address: str) -> None:
    """What Pulumi says of the stack."""
    server = {"server_id": "s", "control_address": "10.64.0.10", "public_address": address}
    said = {"project_id": "p", "vpods": {"acme-train": {"poplar": {SERVER: server}}}}
    program(path, "pulumi", f"cat <<'END'\n{json.dumps(said)}\nEND")


def on_paper(unlocked: Lyon, monkeypatch: pytest.MonkeyPatch) -> Paper:
    """A cloud on which both stacks are applied."""
    gate = unlocked.gate()
    found = Paper.of([gate.plan(None), gate.plan("acme")])
    monkeypatch.setattr(clouds, "Cloud", lambda _, **of_site: Mirror(PaperCloud(found), listed(PaperCloud(found))))
    return found


@pytest.mark.parametrize(
    ("bastion", "command"),
    [("", "ssh ubuntu@203.0.113.44"), (BASTION, "ssh -J jump@bastion.lyon.example ubuntu@203.0.113.44")],
)
def test_the_command_with_the_address_of_the_stacks_outputs(
    unlocked: Lyon, interlock: Interlock, path: Path, bastion: str, command: str
) -> None:
    made_public(unlocked, interlock, "{train: {servers: [0]}}", bastion)
    outputs(path, "203.0.113.44")
    ended = interlock("ssh", "acme")
    assert (ended.code, ended.out, ended.err) == (0, f"{command}\n", "")


def test_a_bastion_without_an_account_is_entered_as_whoever_calls(
    unlocked: Lyon, interlock: Interlock, path: Path
) -> None:
    made_public(unlocked, interlock, "{train: {servers: [0]}}", BASTION.replace("user: jump, ", ""))
    outputs(path, "203.0.113.44")
    assert interlock("ssh", "acme", "-l", "anne").out == "ssh -J bastion.lyon.example anne@203.0.113.44\n"


@pytest.mark.parametrize(
    ("accounts", "options", "login", "note"),
    [
        ("[admin]", (), "admin", ""),
        ("[admin, root]", (), "admin", "note: logs in as admin; `--login` takes root\n"),
        ("[admin, root]", ("--login", "root"), "root", ""),
        ("[admin]", ("-l", "anne"), "anne", ""),
    ],
)
def test_the_account_is_the_requests(
    unlocked: Lyon, interlock: Interlock, path: Path, accounts: str, options: tuple[str, ...], login: str, note: str
) -> None:
    """One that is not in the request may be in the image: nobody here knows."""
    unlocked.replace("tenants/acme.yaml", SSH_FROM, f"{SSH_FROM}  accounts: {accounts}\n")
    made_public(unlocked, interlock, "{train: {servers: [0]}}")
    outputs(path, "203.0.113.44")
    ended = interlock("ssh", "acme", *options)
    assert (ended.code, ended.out, ended.err) == (0, f"ssh {login}@203.0.113.44\n", note)


def test_without_pulumi_the_cloud_is_asked(
    unlocked: Lyon, interlock: Interlock, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_public(unlocked, interlock, "{train: {servers: [0]}}")
    on_paper(unlocked, monkeypatch).one("FloatingIp", ident("lyon-acme", ENTRY))["floating_ip_address"] = "203.0.113.45"
    assert interlock("ssh", "acme", "train-poplar-0").out == "ssh ubuntu@203.0.113.45\n"


def test_a_marker_in_a_project_of_somebody_else_is_nobodys_address(
    unlocked: Lyon, interlock: Interlock, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever can write there would have people log in at a server of theirs."""
    made_public(unlocked, interlock, "{train: {servers: [0]}}")
    on_paper(unlocked, monkeypatch).one("FloatingIp", ident("lyon-acme", ENTRY))["project_id"] = "somebody"
    ended = interlock("ssh", "acme")
    assert (ended.code, ended.out) == (4, "")
    assert ended.err.startswith(f"{SERVER} has no address outside yet\n")


def test_two_that_carry_the_marker_are_told(
    unlocked: Lyon, interlock: Interlock, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_public(unlocked, interlock, "{train: {servers: [0]}}")
    paper = on_paper(unlocked, monkeypatch)
    paper.lists["FloatingIp"].append({**paper.one("FloatingIp", ident("lyon-acme", ENTRY)), "id": "another"})
    ended = interlock("ssh", "acme")
    assert (ended.code, ended.out) == (4, "")
    assert "2 floating IPs carry interlock:" in ended.err


def test_what_is_no_address_never_becomes_a_word_of_the_command(
    unlocked: Lyon, interlock: Interlock, path: Path
) -> None:
    made_public(unlocked, interlock, "{train: {servers: [0]}}")
    outputs(path, "-oProxyCommand=sh")
    ended = interlock("ssh", "acme")
    assert (ended.code, ended.out) == (4, "")
    assert "'-oProxyCommand=sh' is no address" in ended.err


@pytest.mark.parametrize("option", [["--json"], ["--format", "json"]])
def test_as_json(unlocked: Lyon, interlock: Interlock, path: Path, option: list[str]) -> None:
    made_public(unlocked, interlock, "{train: {servers: [0]}}", BASTION)
    outputs(path, "203.0.113.44")
    assert json.loads(interlock("ssh", "acme", *option).out) == {
        "version": 1,
        "server": SERVER,
        "address": "203.0.113.44",
        "via": "jump@bastion.lyon.example",
        "from": ["198.51.100.0/24", "192.0.2.10/32"],
        "command": ["ssh", "-J", "jump@bastion.lyon.example", "ubuntu@203.0.113.44"],
    }


def test_run_becomes_ssh_with_every_word_in_its_place(
    unlocked: Lyon, interlock: Interlock, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process is replaced, so it is a child that is looked at."""
    made_public(unlocked, interlock, "{train: {servers: [0]}}", BASTION)
    outputs(path, "203.0.113.44")
    program(path, "ssh", f'printf "%s\\n" "$@" > {tmp_path}/words; exit 7')
    asked: list[list[str]] = []

    def become(file: str, words: list[str]) -> None:
        asked.append(words)
        raise SystemExit(subprocess.run([file, *words[1:]], check=False).returncode)

    monkeypatch.setattr(os, "execv", become)
    ended = interlock("ssh", "acme", "train-poplar-0", "--run", "--", "echo", "two words")
    assert (ended.code, ended.out) == (7, "")
    said = (tmp_path / "words").read_text(encoding="utf-8").splitlines()
    assert said == ["-J", "jump@bastion.lyon.example", "ubuntu@203.0.113.44", "echo 'two words'"]
    assert asked == [["ssh", *said]]


def test_words_after_two_dashes_are_printed_as_well(unlocked: Lyon, interlock: Interlock, path: Path) -> None:
    made_public(unlocked, interlock, "{train: {servers: [0]}}")
    outputs(path, "203.0.113.44")
    assert interlock("ssh", "acme", SERVER, "--", "uptime", "-p").out == "ssh ubuntu@203.0.113.44 'uptime -p'\n"


#: What acme says under `access.public` -> words after `interlock ssh acme`, and what they are answered.
WRONG: dict[str, dict[tuple[str, ...], str]] = {
    "": {
        (): "tenants/acme.yaml:7:3: IN-008 nobody gets in from outside: no server has a floating IP",
        ("train-poplar-0",): f"{SERVER} has no floating IP, so nobody gets in to it from outside",
    },
    "{train: {servers: [0]}}": {
        ("train-poplar-1",): "acme-train-poplar-1 has no floating IP",
        ("train-controller",): "acme has no virtual server train-controller; there are: train-poplar-0, train-poplar-1",
        ("--login", "-oX"): "`-oX` is no account",
        ("--run", "--json"): "prints nothing: leave JSON out",
    },
    "{train: }": {(): "2 servers of acme are public: train-poplar-0, train-poplar-1"},
}


@pytest.mark.parametrize("public", WRONG)
def test_what_is_asked_wrongly(unlocked: Lyon, interlock: Interlock, path: Path, public: str) -> None:
    made_public(unlocked, interlock, public)
    for arguments, said in WRONG[public].items():
        ended = interlock("ssh", "acme", *arguments)
        assert (ended.code, ended.out) == (2, "")
        assert said in " ".join(ended.err.split())


def test_plan_says_that_nobody_gets_in(unlocked: Lyon, interlock: Interlock) -> None:
    """`ssh_from` opens port 22, and nothing leads there."""
    made_public(unlocked, interlock, "")
    said = interlock("plan", "acme").out
    assert (
        "\nway in\n  nobody gets in from outside: no server has a floating IP\n"
        "  next: say under `access.public` which servers have one, and from which prefixes they are reached\n"
    ) in said
    found = json.loads(interlock("plan", "acme", "--format", "json").out)["ways_in"]
    assert found == {"servers": [], "closed": [SERVER, "acme-train-poplar-1"], "bastion": None}


def test_plan_says_it_of_a_site_with_a_bastion_too(unlocked: Lyon, interlock: Interlock) -> None:
    made_public(unlocked, interlock, "", BASTION)
    said = interlock("plan", "acme").out
    assert "no server has a floating IP, and bastion.lyon.example reaches no others\n" in said


def test_plan_says_who_gets_in(unlocked: Lyon, interlock: Interlock) -> None:
    made_public(unlocked, interlock, "{train: {servers: [0]}}", BASTION)
    said = interlock("plan", "acme").out
    assert f"\nway in\n  {SERVER}: ssh from 198.51.100.0/24, 192.0.2.10/32, through bastion.lyon.example\n" in said
    assert f"{ENTRY}  FloatingIp  to {SERVER}-control" in said
    assert interlock("check", "acme").code == 0
    assert json.loads(interlock("plan", "--format", "json").out)["ways_in"] is None


def held(unlocked: Lyon, paper: Paper) -> Audit:
    return audit(unlocked.gate(), PaperCloud(paper))


def test_audit_tells_an_address_that_leads_to_something_else(
    unlocked: Lyon, interlock: Interlock, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_public(unlocked, interlock, "{train: {servers: [0]}}")
    paper = on_paper(unlocked, monkeypatch)
    assert not held(unlocked, paper).has_drifted
    entry = paper.one("FloatingIp", ident("lyon-acme", ENTRY))
    entry["port_id"] = ident("lyon-acme", "acme-train-poplar-1-control")
    drifted = [item for stack in held(unlocked, paper).stacks for item in stack.drift]
    assert [(item.name, [*item.differs]) for item in drifted] == [(ENTRY, ["port"])]


def test_audit_tells_an_address_of_others_at_our_router(
    unlocked: Lyon, interlock: Interlock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It leads to no port of ours yet."""
    made_public(unlocked, interlock, "")
    paper = on_paper(unlocked, monkeypatch)
    foreign = {
        "id": "x", "project_id": "p", "description": "", "port_id": None,
        "router_id": ident("lyon-acme", "acme-router"), "floating_network_id": ident("lyon-site", "external"),
        "floating_ip_address": "203.0.113.99",
    }  # fmt: skip
    paper.lists["FloatingIp"].append(foreign)
    (found,) = held(unlocked, paper).unmanaged
    assert (found.kind, found.orphan, found.why) == ("FloatingIp", False, "it leads in by router acme-router")
