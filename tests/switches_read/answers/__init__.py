"""Answers in documented forms; README.md beside them says where each form was seen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from interlock.switches import commands
from interlock.switches.answers import SwitchAnswer
from interlock.switches.commands import Command

HERE = Path(__file__).parent

FILES: dict[Command, str] = {
    commands.EOS_VERSION: "eos/version",
    commands.EOS_SWITCHPORTS: "eos/switchport",
    commands.EOS_STATUS: "eos/status",
    commands.EOS_VLANS: "eos/vlan",
    commands.EOS_LLDP: "eos/lldp",
    commands.EOS_ADDRESSES: "eos/addresses",
    commands.NVUE_PLATFORM: "cumulus/platform",
    commands.NVUE_INTERFACES: "cumulus/interface",
    commands.NVUE_PORT_VLANS: "cumulus/port-vlan",
    commands.NVUE_VLANS: "cumulus/vlan",
    commands.NVUE_LLDP: "cumulus/lldp",
    commands.NVUE_ROCE: "cumulus/roce",
}


def document(command: Command) -> Any:
    """What a command is answered with, to be changed."""
    return json.loads((HERE / f"{FILES[command]}.json").read_text(encoding="utf-8"))


def texts(platform: str) -> dict[Command, str]:
    """All answers of a switch."""
    return {command: json.dumps(document(command)) for command in commands.COMMANDS[platform]}  # type: ignore[index]


def answers(platform: str, changed: dict[Command, str] | None = None) -> dict[Command, SwitchAnswer]:
    """The same as a reader gets them, some of them changed."""
    return {command: SwitchAnswer(text) for command, text in (texts(platform) | (changed or {})).items()}
