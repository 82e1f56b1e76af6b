"""Serves one stand-in of UFM until it is ended: `python -m sandbox.infiniband --help`."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from sandbox.told_to_end import told_to_end

from .faults import fault_of
from .needs import SubnetLacks
from .processes import SubnetFailed
from .profiles import PROFILES
from .routes import NOTICE
from .standin import StandIn
from .subnet import LiveSubnet, ManagerSettings
from .topology import rails


def words() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m sandbox.infiniband",
        description=f"Serves {NOTICE}. It is no UFM: P_Keys are what this OpenSM wrote into the ports' tables, "
        "no packet flows, and UFM's interface is there for partitions, ports, the manager's keys, tokens and jobs.",
    )
    parser.add_argument("--dir", type=Path, help="folder of the instance; a new temporary one by default")
    parser.add_argument("--nodes", type=int, default=8, help="nodes of the fabric (default 8)")
    parser.add_argument("--rails", type=int, default=2, help="HCAs of each node, and leaves (default 2)")
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1; a free one by default")
    parser.add_argument("--profile", choices=sorted(PROFILES), default="documented", help="where sources disagree")
    parser.add_argument("--asynchronous", action="store_true", help="answer writes with a job before they are done")
    parser.add_argument("--part-enforce", choices=("both", "in", "out", "off"), default="both")
    parser.add_argument(
        "--fault",
        action="append",
        default=[],
        metavar="'METHOD GLOB=WHAT'",
        help="the next such request fails: a status, cut-before, cut-middle, cut-after or job-fails",
    )
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT. Exit code 2: wrong words; 4: something lacks or failed."""
    parser = words()
    asked = parser.parse_args(arguments)
    try:
        faults = [fault_of(text) for text in asked.fault]
    except ValueError as error:
        parser.error(str(error))
    folder = asked.dir or Path(tempfile.mkdtemp(prefix="interlock-infiniband-"))
    subnet = LiveSubnet(rails(asked.nodes, asked.rails), folder, ManagerSettings(part_enforce=asked.part_enforce))
    try:
        with told_to_end() as wait, subnet.running():
            standin = StandIn(subnet, PROFILES[asked.profile], asynchronous=asked.asynchronous)
            for fault in faults:
                standin.faults.add(fault)
            with standin.serving(asked.port):
                _tell(standin, folder)
                wait()
    except (SubnetLacks, SubnetFailed) as error:
        print(error, file=sys.stderr)
        return 4
    return 0


def _tell(standin: StandIn, folder: Path) -> None:
    """What a client needs, in a file that its owner alone reads; where it is, on stdout."""
    file = folder / "ufm.json"
    file.touch(mode=0o600)
    file.chmod(0o600)
    access = {
        "url": standin.url,
        "username": standin.user,
        "password": standin.password,
        "token": standin.token,
        "ca_file": standin.ca_file,
    }
    file.write_text(json.dumps(access, indent=2) + "\n", encoding="utf-8")
    print(f"{standin.url} is {NOTICE} (profile {standin.profile.name}). How to log in: {file}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
