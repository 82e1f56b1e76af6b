"""`python -m sandbox.vipu`: the commands of V-IPU as the simulator has them, and the simulator's own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from . import server_command, shims
from .forms import FormWrong
from .racks import NoSuchMachine, board_replaced, changed, rack_of, racks_of, read_racks, write_racks
from .storage import BackupWrong, ControllerStorage, StorageBusy, back_up, restore

_ROOT = Path(__file__).resolve().parents[2]
#: Name of a command -> the word behind `python -m sandbox.vipu`.
SHIMS = {"vipu": "user", "vipu-cli": "user", "vipu-admin": "admin", "vipu-server": "server"}

_OWN = """usage: python -m sandbox.vipu WORD …

A SIMULATOR of V-IPU for tests; it is not V-IPU and claims no wire compatibility.

  server …                          vipu-server: makes a controller's folder, and serves it
  user …, admin …                   vipu and vipu-admin, with --help of their own
  shims FOLDER                      all of them as programs in a folder for PATH
  racks FILE [--count N] [--machines N]       a file of IPU-Machines: N logical racks, or the first machines of one
  machine FILE HOST [--answers yes|no] [--version V] [--interface I] [--replace]     what happens to one of them
  backup FOLDER FILE                state and certificates of a controller, whether it runs or not
  restore FOLDER FILE               the same instead of those that are there, of one that is stopped
  events FOLDER                     its log
"""


def main(arguments: Sequence[str]) -> int:
    """Exit code 0; 1: it failed; 2: words that it does not know."""
    word, rest = (arguments[0], arguments[1:]) if arguments else ("--help", [])
    if word in ("--help", "-h"):
        print(_OWN, end="")
        return 0
    if word in ("user", "admin"):
        return shims.main(rest, "user" if word == "user" else "admin")
    if word == "server":
        return server_command.main(rest)
    run = _RUNS.get(word)
    if run is None:
        print(f"unknown word {word}; see python -m sandbox.vipu --help", file=sys.stderr)
        return 2
    try:
        run(rest)
    except (FormWrong, NoSuchMachine, StorageBusy, BackupWrong, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def write_shims(folder: Path) -> None:
    """`vipu`, `vipu-cli` (its older name), `vipu-admin` and `vipu-server` as programs of this checkout."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, word in SHIMS.items():
        file = folder / name
        file.write_text(
            f"#!{sys.executable}\n# Simulator of V-IPU: not V-IPU.\nimport sys\n\nsys.path.insert(0, {str(_ROOT)!r})\n"
            f"from sandbox.vipu.__main__ import main\n\nsys.exit(main([{word!r}, *sys.argv[1:]]))\n",
            encoding="utf-8",
        )
        file.chmod(0o755)


def _shims(words: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m sandbox.vipu shims")
    parser.add_argument("folder", type=Path)
    write_shims(parser.parse_args(words).folder)


def _racks(words: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m sandbox.vipu racks")
    parser.add_argument("file", type=Path)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--machines", type=int, choices=range(1, 17))
    asked = parser.parse_args(words)
    write_racks(asked.file, rack_of(asked.machines) if asked.machines else racks_of(asked.count))


def _machine(words: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m sandbox.vipu machine")
    parser.add_argument("file", type=Path)
    parser.add_argument("host")
    parser.add_argument("--answers", choices=("yes", "no"))
    parser.add_argument("--version")
    parser.add_argument("--interface")
    parser.add_argument("--replace", action="store_true")
    asked = parser.parse_args(words)
    racks = read_racks(asked.file)
    values = {name: getattr(asked, name) for name in ("version", "interface") if getattr(asked, name)}
    if asked.answers:
        values["answers"] = asked.answers == "yes"
    racks = changed(racks, asked.host, **values)
    write_racks(asked.file, board_replaced(racks, asked.host) if asked.replace else racks)


def _backup(words: Sequence[str]) -> None:
    folder, file = _two("backup", words)
    back_up(ControllerStorage(folder), file)


def _restore(words: Sequence[str]) -> None:
    folder, file = _two("restore", words)
    restore(ControllerStorage(folder), file)


def _two(word: str, words: Sequence[str]) -> tuple[Path, Path]:
    parser = argparse.ArgumentParser(prog=f"python -m sandbox.vipu {word}")
    parser.add_argument("folder", type=Path)
    parser.add_argument("file", type=Path)
    asked = parser.parse_args(words)
    return asked.folder, asked.file


def _events(words: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m sandbox.vipu events")
    parser.add_argument("folder", type=Path)
    for event in ControllerStorage(parser.parse_args(words).folder).events():
        print(f"{event.at:.3f} {event.about}: {event.what}")


_RUNS: Mapping[str, Callable[[Sequence[str]], None]] = {
    "shims": _shims,
    "racks": _racks,
    "machine": _machine,
    "backup": _backup,
    "restore": _restore,
    "events": _events,
}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
