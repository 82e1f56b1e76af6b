"""cloud-init documents of servers: hostname and where the V-IPU API is. Readable by tenants: no secrets.

A server whose user data changes is replaced, so these bytes are kept: tests/planning/user_data holds them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

_NO_FORWARDING = """\
net.ipv4.ip_forward = 0
net.ipv6.conf.all.forwarding = 0
"""

_NO_SSH_FORWARDING = """\
AllowTcpForwarding no
AllowAgentForwarding no
PermitTunnel no
GatewayPorts no
"""


def poplar_user_data(hostname: str, api_host: str, api_port: int) -> str:
    """For a Poplar server: the V-IPU command line and IPUoF find the vPOD's controller."""
    command_line = f'api-host="{api_host}"\napi-port={api_port}\n'
    environment = f"export IPUOF_VIPU_API_HOST={api_host}\nexport IPUOF_VIPU_API_PORT={api_port}\n"
    files = [_file("/etc/vipu/vipu-cli.hcl", command_line), _file("/etc/profile.d/vipu.sh", environment)]
    return _document({"hostname": hostname, "write_files": files})


def controller_user_data(hostname: str) -> str:
    """For a controller: it is attached to two networks and forwards nothing between them."""
    files = [
        _file("/etc/sysctl.d/90-no-forwarding.conf", _NO_FORWARDING),
        _file("/etc/ssh/sshd_config.d/10-no-forwarding.conf", _NO_SSH_FORWARDING),
    ]
    commands = [_OnOneLine(("sysctl", "--system"))]
    return _document({"hostname": hostname, "write_files": files, "runcmd": commands})


class _Quoted(str):
    """Written between double quotes."""


class _Lines(str):
    """Written as a literal block."""


class _OnOneLine(tuple[str, ...]):
    """Written between brackets."""


class _Writer(yaml.SafeDumper):
    """Block style with indented lists. Never a line break inside a value."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002 - of PyYAML
        super().increase_indent(flow, False)


_Writer.add_representer(_Quoted, lambda writer, text: writer.represent_scalar("tag:yaml.org,2002:str", text, '"'))
_Writer.add_representer(_Lines, lambda writer, text: writer.represent_scalar("tag:yaml.org,2002:str", text, "|"))
_Writer.add_representer(
    _OnOneLine, lambda writer, words: writer.represent_sequence("tag:yaml.org,2002:seq", words, flow_style=True)
)


def _file(path: str, content: str) -> dict[str, str]:
    return {"path": path, "permissions": _Quoted("0644"), "content": _Lines(content)}


def _document(content: Mapping[str, Any]) -> str:
    written = yaml.dump(dict(content), Dumper=_Writer, sort_keys=False, width=float("inf"), allow_unicode=True)
    return f"#cloud-config\n{written}"
