"""Neutron: real API, ML2 plugin, segment ranges, RBAC, and the real openvswitch, SR-IOV and genericswitch drivers.

Stand-ins: the agents (services/agents.py), and the switches at the other end of ssh
(sandbox/switches), which forward frames where the instance has them. Routers, floating IPs and security groups
are API objects: nothing routes, translates or filters a packet.
"""

# What is patched or imitated here is private to a project, and its signatures are given.
# ruff: noqa: SLF001

import os
import sys

from sandbox.rack.reading import rack_of
from sandbox.services import agents, kept, process, sqlite


def main() -> None:
    """Start the API with its stand-in agents and wait."""
    instance = process.here()
    process.die_when_uncaught()
    sys.argv = ["neutron"]
    os.environ["OS_NEUTRON_CONFIG_DIR"] = str(instance.conf)
    os.environ["OS_NEUTRON_CONFIG_FILES"] = "neutron.conf"
    sqlite.tune()
    kept.keep()

    from neutron import policy
    from neutron.plugins.ml2 import ovo_rpc

    # Agents that would take what changed stand in: for them each object would be read once more.
    ovo_rpc._ObjectChangeHandler.handle_event = lambda *_, **__: None

    from neutron.wsgi import api

    # Loaded by the first request otherwise: requests that come meanwhile find no rules and are refused with 403.
    policy.init()
    agents.start(rack_of(instance.folder))
    process.serve(instance, "neutron", api.application, threads=16)

    process.die_when_uncaught()
    process.ready(instance, "neutron")
    process.wait_for_the_end()


if __name__ == "__main__":
    main()
