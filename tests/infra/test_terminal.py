"""What a terminal, a pipe, a full disk and another encoding get to see."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from infra.cli.formats import FORMATS
from infra.cli.terminal import NARROWEST, fitted
from infra.program.places import PROJECT, ROOT
from tests.infra.conftest import Interlock, Lyon

COMMAND = [sys.executable, "-m", "infra.cli"]


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The command as a process of its own."""
    return subprocess.run(
        [*COMMAND, *arguments], cwd=ROOT, env=os.environ | environment, check=False, capture_output=True
    )


def on_terminal(columns: int, *arguments: str) -> list[str]:
    """What a terminal of so many columns shows, without colour."""
    parent, child = pty.openpty()
    environment = os.environ | {"COLUMNS": str(columns), "NO_COLOR": "1", "LINES": "50"}
    with subprocess.Popen(
        [*COMMAND, *arguments], cwd=ROOT, env=environment, stdout=child, stderr=subprocess.DEVNULL
    ) as running:
        os.close(child)
        said = b""
        while True:
            try:
                part = os.read(parent, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            said += part
    os.close(parent)
    assert running.returncode in (0, 1)
    return said.decode().replace("\r\n", "\n").splitlines()


@pytest.mark.parametrize("arguments", [("check",), ("check", "--verbose"), ("plan", "acme"), ("explain", "ISO-05")])
def test_no_line_is_wider_than_the_terminal(lyon: Lyon, arguments: tuple[str, ...]) -> None:
    narrow, wide = on_terminal(80, *arguments), on_terminal(1000, *arguments)
    # A word that is longer than a line stays whole.
    too_wide = [line for line in narrow if len(line) > 80 and len(line.split()) > 1]
    assert [line for line in too_wide if len(max(line.split(), key=len)) < 60] == []
    words = re.compile(r"[^\s│├└─]+")
    assert words.findall("\n".join(narrow)) == words.findall("\n".join(wide))


def test_a_clean_site_fits_on_a_screen_of_80_columns(lyon: Lyon) -> None:
    assert len(on_terminal(80, "check")) <= 16


def test_in_a_pipe_no_line_is_broken(lyon: Lyon) -> None:
    piped = run("check", COLUMNS="80", NO_COLOR="1").stdout.decode().splitlines()
    assert piped == on_terminal(1000, "check")
    assert max(map(len, piped)) > 80


def test_a_command_that_is_to_be_pasted_is_not_broken(lyon: Lyon) -> None:
    """Half a command is another one."""
    shown, whole = (on_terminal(columns, "break-glass", "plan", "acme") for columns in (80, 1000))
    assert shown == whole
    assert max(len(line) for line in whole if line.startswith("    openstack")) > 80


BRANCH = (
    "├─ Server acme is somewhere in the middle of it",
    ["├─ Server acme is somewhere in the middle", "│      of it"],
)
STEP = ("    – a step that says a good deal too much", ["    – a step that says a good deal too", "          much"])
RED = "\033[31mred red red red red red\033[0m red red red red"


@pytest.mark.parametrize(
    ("line", "expected"), [BRANCH, STEP, (RED, [RED]), ("x" * 60, ["x" * 60]), ("short", ["short"])]
)
def test_lines_are_broken_at_words_below_what_they_say(line: str, expected: list[str]) -> None:
    assert fitted(line, 41).split("\n") == expected


def test_below_the_narrowest_nothing_is_broken() -> None:
    assert fitted("a b " * 30, NARROWEST - 1) == "a b " * 30


# Streams


@pytest.mark.parametrize("arguments", [("check",), ("plan", "acme"), ("explain", "ISO-05"), ("--help",)], ids=" ".join)
def test_an_encoding_without_our_characters_is_no_defect(lyon: Lyon, arguments: tuple[str, ...]) -> None:
    told = run(*arguments, PYTHONIOENCODING="ascii")
    assert (told.returncode, told.stderr) == (0, b"")
    usual = run(*arguments, PYTHONIOENCODING="utf-8").stdout.decode()
    assert told.stdout.decode("ascii") == "".join(char if char.isascii() else "?" for char in usual)


def test_json_is_the_same_document_in_ascii(lyon: Lyon) -> None:
    for arguments in (
        ("plan", "acme", "--format", "json"),
        ("site", "--full", "--format", "json"),
        ("schema", "site"),
    ):
        ascii_only, usual = (run(*arguments, PYTHONIOENCODING=name).stdout for name in ("ascii", "utf-8"))
        assert json.loads(ascii_only.decode("ascii")) == json.loads(usual)


@pytest.mark.parametrize(
    "arguments",
    [
        ("check",), ("check", "-f", "json"), ("check", "-f", "sarif"), ("site", "--full"), ("--version",),
        ("plan", "acme"), ("explain", "ISO-05"), ("schema", "site"), ("capacity",),
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_full_disk_is_one_line_and_4(lyon: Lyon, arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*COMMAND, *arguments], cwd=ROOT, check=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 4
    assert done.stderr == b"stdout cannot be written: No space left on device; there is no verdict\n"


@pytest.mark.parametrize(("arguments", "code"), [(("check",), 0), (("check", "acne"), 2), (("chek",), 2)])
def test_the_exit_code_counts_though_stderr_is_full(lyon: Lyon, arguments: tuple[str, ...], code: int) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*COMMAND, *arguments], cwd=ROOT, check=False, stdout=subprocess.PIPE, stderr=full)
    assert done.returncode == code


# JSON


@pytest.mark.parametrize(
    "arguments",
    [
        ("check",), ("check", "acme"), ("plan",), ("plan", "acme"), ("capacity",), ("site",), ("lock",),
        ("lock", "--check"), ("lock", "--upgrade"), ("explain",), ("explain", "ISO-05"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_every_document_has_a_version(lyon: Lyon, interlock: Interlock, arguments: tuple[str, ...]) -> None:
    done = interlock(*arguments, "--format", "json")
    assert done.code == 0, done.err
    assert next(iter(json.loads(done.out).items())) == ("version", 1)


@pytest.mark.parametrize("command", FORMATS)
def test_help_names_the_formats_of_the_table(interlock: Interlock, command: str) -> None:
    assert f"--format {'|'.join(FORMATS[command])} " in " ".join(interlock(command, "--help").out.split()) + " "


def test_earlier_names_of_the_text_form_are_taken(lyon: Lyon, interlock: Interlock) -> None:
    assert interlock("check", "-f", "table") == interlock("check")
    assert interlock("plan", "acme", "-f", "tree") == interlock("plan", "acme")


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("chek",), "did you mean `check`?"),
        (("check", "acne"), "did you mean `acme`?"),
        (("settle", "globx"), "did you mean `globex`?"),
        (("plan", "--site", "lyn"), "did you mean `lyon`?"),
        (("explain", "ISO-5"), "did you mean `ISO-05`?"),
        (("check", "-f", "jsno"), "did you mean json?"),
    ],
    ids=" ".join,
)
def test_a_mistyped_word_is_2_and_told_the_nearest(
    lyon: Lyon, interlock: Interlock, arguments: tuple[str, ...], meant: str
) -> None:
    before = lyon.locks()
    done = interlock(*arguments)
    assert (done.code, done.out) == (2, "")
    assert meant in " ".join(done.err.split())
    assert lyon.locks() == before


def test_debug_may_stand_before_the_command(lyon: Lyon) -> None:
    """Of a wrong word it shows where it was refused; in a process of its own, since it stays on."""
    for arguments in (("--debug", "plan", "acne"), ("plan", "acne", "--debug")):
        done = run(*arguments)
        assert done.returncode == 2
        assert b"Traceback" in done.stderr
    assert b"Traceback" not in run("plan", "acne").stderr


# Completion


def completed(line: str, **more: str) -> list[str]:
    """What bash is given for a line that is being typed."""
    words = line.split(" ")
    environment = {"_INTERLOCK_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = run(**environment, **more)
    assert done.stderr == b""
    return done.stdout.decode().split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("interlock ch", ["check", "channel"]),
        ("interlock check ac", ["acme"]),
        ("interlock check ", ["acme", "globex", "site"]),
        ("interlock plan s", ["site"]),
        ("interlock recover s", ["site"]),
        ("interlock explain ISO-0", [f"ISO-0{number}" for number in range(1, 10)]),
        ("interlock sandbox sta", ["status"]),
        ("interlock plan gl", ["globex"]),
        ("interlock settle ", ["acme", "globex"]),
        ("interlock check --site ly", ["lyon"]),
        ("interlock check --format ", ["text", "json", "sarif", "junit"]),
    ],
)
def test_a_shell_completes_commands_tenants_sites_and_formats(lyon: Lyon, line: str, expected: list[str]) -> None:
    assert completed(line) == expected


def test_a_shell_completes_stacks_of_the_backend(tmp_path: Path) -> None:
    folder = tmp_path / ".pulumi/stacks" / PROJECT
    folder.mkdir(parents=True)
    for name in ("lyon-acme", "lyon-site", "paris-site"):
        (folder / f"{name}.json").write_text("{}", encoding="utf-8")
    assert completed("interlock unlock lyon-", PULUMI_BACKEND_URL=tmp_path.as_uri()) == ["lyon-acme", "lyon-site"]
    assert completed("interlock unlock lyon-", PULUMI_BACKEND_URL="https://api.example") == []


def test_where_no_site_is_meant_a_shell_completes_no_tenant(tmp_path: Path) -> None:
    assert completed("interlock settle ", INTERLOCK_STACKS=str(tmp_path)) == []


MODULES = """\
import atexit, sys
atexit.register(lambda: print(*sorted({"networkx", "pulumi", "openstack"} & set(sys.modules))))
import infra.cli.main
infra.cli.main.main()
"""


def test_completing_a_command_needs_none() -> None:
    environment = os.environ | {"_INTERLOCK_COMPLETE": "complete_bash", "COMP_WORDS": "interlock ", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-c", MODULES], cwd=ROOT, env=environment, check=False, capture_output=True, text=True
    )
    assert "preflight" in done.stdout
    assert not {"networkx", "pulumi", "openstack"} & set(done.stdout.split())


# The site


def test_the_site_is_the_option_then_the_variable_then_the_default(
    lyon: Lyon, interlock: Interlock, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet = lyon.stacks / "fleet.yaml"
    assert "lyon: {default: true}" in fleet.read_text()
    assert interlock("site").out.startswith("site lyon ")
    monkeypatch.setenv("INTERLOCK_SITE", "paris")
    assert "paris/site.yaml: IN-020 there is no such site" in interlock("site").err
    assert interlock("site", "--site", "lyon").out.startswith("site lyon ")
    monkeypatch.delenv("INTERLOCK_SITE")
    fleet.write_text("name: demo\n")
    assert interlock("site").out.startswith("site lyon "), "the only one there is"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: demo\nsites: {lyn: {default: true}}\n", "fleet.yaml:2:9: IN-008 there is no site `lyn`"),
        ("name: demo\nsites: {lyon: {default: true}, b: {default: true}}\n", "IN-009 another site is the default"),
        ("name: demo\nsites: {lyon: {defualt: true}}\n", "IN-001"),
    ],
)
def test_a_wrong_default_is_told_where_it_stands(lyon: Lyon, interlock: Interlock, text: str, said: str) -> None:
    (lyon.stacks / "fleet.yaml").write_text(text)
    done = interlock("check")
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_of_several_sites_without_a_default_all_are_named(lyon: Lyon, interlock: Interlock) -> None:
    (lyon.stacks / "fleet.yaml").write_text("name: demo\n")
    (lyon.stacks / "paris").mkdir()
    (lyon.stacks / "paris" / "site.yaml").write_text("")
    done = interlock("capacity")
    assert (done.code, done.out) == (2, "")
    assert "no site is named, and none is the default" in done.err
    assert "there are: lyon, paris" in done.err
    assert interlock("explain", "ISO-05").code == 0, "a rule is the same at every site"
