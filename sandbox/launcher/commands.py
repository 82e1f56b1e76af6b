"""What a person types: install, up, down, status, enrol, reset."""

import argparse
import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sandbox.infiniband.needs import SubnetLacks, require_subnet
from sandbox.launcher import configuration, frames, golden, install, ports, processes, racks, stamps
from sandbox.launcher.catalogue import processes_of
from sandbox.launcher.errors import SandboxError
from sandbox.launcher.layout import BASE, DEFAULT_INSTANCE, Instance, locked
from sandbox.launcher.making import discard
from sandbox.launcher.progress import say, step
from sandbox.rack.reading import DEFAULT, rack_of, shipped

ENVIRONMENT_FAILED = 4
INTERRUPTED = 130
UNREAD = 141

SWITCHES = "switches"

EXAMPLES = """examples:
  interlock sandbox up                    install what is missing, start, wait until ready
  interlock sandbox status --format json
  interlock sandbox reset                 back to an empty cloud, started
  interlock sandbox up --dir ../second    another cloud beside the first
  interlock sandbox down

Without the `interlock` command: python3 sandbox/supervisor.py up.

Exit codes: 0 done (status: told what it saw); 2 wrong words; 4 the environment failed; 130 interrupted;
141 nobody reads on."""


@dataclass(frozen=True)
class Request:
    """What was asked of one instance; `format` is for `status`, the rest for `up` and `reset`, None: as it was.

    `rack` is the text of its file, `nodes` the file for `enrol`.
    """

    instance: Instance
    format: str
    frames: bool | None
    rack: str | None
    nodes: Path | None = None


def prepare_base() -> bool:
    """Make what all instances share; a second caller waits. Returns whether anything was done."""
    with locked(BASE):
        installed = install.ensure_venv()
        return golden.ensure() or installed


def install_command(_: Request) -> int:
    """Packages and golden image."""
    if not prepare_base():
        say(f"installed already in {BASE}; nothing to do")
    return 0


def up_command(request: Request) -> int:
    """Install what is missing, then start what does not run."""
    frames.require(request.frames)
    with locked(BASE):
        install.ensure_venv()
        if not request.instance.state.is_dir():
            golden.ensure()
    with locked(request.instance.folder):
        choose_rack(request)
        require_rack(request.instance.folder)
        choose_frames(request)
        start(request.instance)
    return 0


def choose_rack(request: Request) -> None:
    """Keep the rack that was asked for. Databases and switches are of one rack, so it stays while there are any."""
    folder = request.instance.folder
    if request.rack is not None and request.rack != racks.kept(folder):
        if request.instance.state.is_dir():
            raise SandboxError(f"{folder} has another rack.\n  `reset --rack` begins with an empty cloud on this one.")
        racks.keep(folder, request.rack)
    racks.require(folder)


def choose_frames(request: Request) -> None:
    """Keep whether switches forward frames; that of a running instance is not changed."""
    folder = request.instance.folder
    if request.frames is None or request.frames == frames.wanted(folder):
        return
    if processes.running(request.instance):
        now, then = ("with", "without") if frames.wanted(folder) else ("without", "with")
        raise SandboxError(f"{folder} runs {now} frames.\n  Run the command `down`, then start it {then} them.")
    frames.keep(folder, request.frames)


def require_rack(folder: Path) -> None:
    """Raises SandboxError if this machine lacks what the rack of the instance in this folder runs on."""
    if rack_of(folder).infiniband is not None:
        try:
            require_subnet()
        except SubnetLacks as error:
            raise SandboxError(str(error)) from error


def start(instance: Instance) -> None:
    """Start an instance whose base is there and whose lock is held."""
    running, wanted = processes.running(instance), processes_of(rack_of(instance.folder))
    if len(running) == len(wanted):
        say(f"up already; nothing to do. OS_CLIENT_CONFIG_FILE={instance.clouds} OS_CLOUD=sandbox")
        return
    if not instance.state.is_dir():
        golden.copy_to(instance)
    elif not stamps.carries(instance.state, stamps.pins()):
        raise SandboxError(
            f"{instance.state} was made with other package versions and would not match "
            "the services' schemas.\n  Run the command `reset` to begin with an empty cloud."
        )
    chosen = pick_ports(instance, running)
    golden.prepare(instance)
    configuration.write(instance, chosen)
    if not running:
        golden.address(instance, chosen)
    with step(f"starting {len(wanted) - len(running)} of {len(wanted)} processes"), fabric(instance, running):
        processes.start(instance, wanted)
    say(f"up. OS_CLIENT_CONFIG_FILE={instance.clouds} OS_CLOUD=sandbox")


@contextmanager
def fabric(instance: Instance, running: dict[str, int]) -> Iterator[None]:
    """What the switches forward frames with, where they do; it goes again when the start fails."""
    if SWITCHES in running or not frames.wanted(instance.folder):
        yield
        return
    frames.up(instance.folder)
    try:
        yield
    except BaseException:
        frames.down(instance.folder)
        raise


def pick_ports(instance: Instance, running: dict[str, int]) -> dict[str, int]:
    """The instance's ports; new ones when it is down and another program listens on one of them."""
    with locked(BASE):
        chosen = ports.settle(instance)
        own = ports.addresses(instance.folder)
        lost = [] if running else [name for name, port in chosen.items() if not ports.is_free(port, own)]
        if not lost:
            return chosen
        say(f"port {chosen[lost[0]]} ({lost[0]}) is in use by another program; all ports are chosen again")
        return ports.renew(instance)


def down_command(request: Request) -> int:
    """Stop what runs; state stays."""
    instance = request.instance
    if not instance.folder.is_dir():
        say(f"{instance.folder} does not exist; nothing to do")
        return 0
    with locked(instance.folder):
        stop(instance)
    return 0


def stop(instance: Instance) -> None:
    """Stop an instance whose lock is held."""
    if not processes.running(instance):
        say("down already; nothing to do")
    else:
        with step("stopping"):
            processes.stop(instance)
    frames.down(instance.folder)


def reset_command(request: Request) -> int:
    """Throw the state away and start from the golden image, on the same ports."""
    instance = request.instance
    frames.require(request.frames)
    prepare_base()
    with locked(instance.folder):
        stop(instance)
        choose_frames(request)
        with step("a fresh state"):
            # Claims lie beside the clouds.yaml, and the cloud that they speak of is thrown away.
            for folder in (instance.state, instance.logs, instance.run, instance.folder / "claims"):
                discard(folder)
            for pattern in ("requests.*", "trap.*"):
                for path in instance.folder.glob(pattern):
                    path.unlink()
            choose_rack(request)
        require_rack(instance.folder)
        start(instance)
    return 0


def status_command(request: Request) -> int:
    """Tell what runs, on stdout."""
    instance = request.instance
    known = ports.read(instance)
    seen = processes.report(instance, known)
    if request.format == "json":
        print(processes.as_json(instance, known, seen))
    else:
        for one in seen:
            listeners = " ".join(f"{name}:{known.get(name, 0)}={code}" for name, code in one.http.items())
            word = "ready" if one.ready else "starting" if one.pid else "down"
            print(f"{one.name:9} {word:9} pid {one.pid:<8} {one.rss_mib:5} MiB  {listeners}")
        print(
            f"{'total':9} {sum(one.ready for one in seen)}/{len(seen):<7} {'':12} "
            f"{sum(one.rss_mib for one in seen):5} MiB  {instance.folder}"
        )
        print(f"{'frames':9} {frames.words(instance.folder)}")
    return 0


def enrol_command(request: Request) -> int:
    """Enrol whole hosts at Ironic, on fake hardware, and have them cleaned until they are available."""
    instance, nodes = request.instance, request.nodes
    if not processes.running(instance):
        raise SandboxError(f"{instance.folder} is down.\n  Run the command `up` first.")
    with step("enrolling nodes at Ironic"):
        done = subprocess.run(
            configuration.command("sandbox.services.enrolling", str(nodes)),
            env=configuration.environment(instance), check=False,
        )  # fmt: skip
    return ENVIRONMENT_FAILED if done.returncode else 0


Command = Callable[[Request], int]

COMMANDS: dict[str, tuple[Command, str]] = {
    "install": (install_command, "make what all instances share: packages and golden image"),
    "up": (up_command, "install what is missing, start, wait until ready"),
    "down": (down_command, "stop; the state stays"),
    "status": (status_command, "what runs, on which ports, with how much memory"),
    "enrol": (enrol_command, "enrol the nodes that `interlock nodes --json` lists, on Ironic's fake hardware"),
    "reset": (reset_command, "throw the state away and start an empty cloud"),
}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(
        prog="interlock sandbox",
        description="The embedded cloud: a real OpenStack on 127.0.0.1.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (_, text) in COMMANDS.items():
        one = commands.add_parser(
            name, help=text, description=text, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        one.add_argument(
            "--dir", type=Path, default=DEFAULT_INSTANCE, help=f"the instance's folder (default {DEFAULT_INSTANCE})"
        )
        if name == "status":
            one.add_argument("--format", choices=("text", "json"))
        if name in ("up", "reset"):
            one.add_argument(
                "--frames", action=argparse.BooleanOptionalAction,
                help="switches that forward frames, as root; kept for later starts, and not so at the first",
            )  # fmt: skip
            one.add_argument(
                "--rack", metavar="NAME|FILE",
                help=f"what stands in it: {' or '.join(shipped())}, or a file; kept; at first {DEFAULT}",
            )  # fmt: skip
        if name == "enrol":
            one.add_argument("nodes", type=lambda text: Path(text).resolve(), metavar="FILE", help="what it printed")
        one.set_defaults(format="text", frames=None, rack=None, nodes=None)
    return top


def interrupt(*_: object) -> None:
    """A polite kill ends like Ctrl-C: what is half-made is removed."""
    raise KeyboardInterrupt


def main(words: list[str]) -> int:
    """Run one command; returns the exit code."""
    arguments = parser().parse_args(words)
    signal.signal(signal.SIGTERM, interrupt)
    command, _ = COMMANDS[arguments.command]
    try:
        rack = racks.asked(arguments.rack)
        instance = Instance(arguments.dir.resolve())
        code = command(Request(instance, arguments.format, arguments.frames, rack, arguments.nodes))
        sys.stdout.flush()  # what is still held back may meet a closed pipe or a full disk, too
    except BrokenPipeError:
        return _speechless(UNREAD)
    except OSError as error:
        if error.filename is not None or error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
            raise
        print(f"sandbox: error: stdout cannot be written: {error.strerror}", file=sys.stderr)
        return _speechless(ENVIRONMENT_FAILED)
    except SandboxError as error:
        print(f"sandbox: error: {error}", file=sys.stderr)
        return ENVIRONMENT_FAILED
    except KeyboardInterrupt:
        print("sandbox: interrupted; nothing half-made is left", file=sys.stderr)
        return INTERRUPTED
    return code


def _speechless(code: int) -> int:
    """Let stdout go nowhere: Python flushes it once more at its end, and would complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return code
