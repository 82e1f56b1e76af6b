"""The InfiniBand subnet of this instance's rack: a simulated fabric, a real OpenSM, a stand-in of UFM's REST interface.

Partitions are kept with the state, so a start finds those that there were. How a client asks is written into
`DIR/fabrics.yaml`, where `interlock` looks for it. The password is a new one at each start.
"""

import yaml

from sandbox.infiniband import partitions
from sandbox.infiniband.racks import RackSubnet
from sandbox.infiniband.standin import StandIn
from sandbox.infiniband.subnet import LiveSubnet, ManagerSettings
from sandbox.launcher.configuration import write_private
from sandbox.rack.reading import rack_of
from sandbox.services import process

PROCESS = "infiniband"
NOTE = "# The sandbox's stand-in of UFM, for who asks it.\n"


def settings(subnet: RackSubnet) -> ManagerSettings:
    """As hardening guides have it: keys that are not the defaults, and every port limited in the default partition."""
    return ManagerSettings(
        m_key=0x1F2E3D4C5B6A7988, sm_key=0x2A3B4C5D6E7F8091, sa_key=0x3C4D5E6F708192A3, m_key_per_port=True,
        subnet_prefix=subnet.prefix,
    )  # fmt: skip


def restored(live: LiveSubnet) -> None:
    """Start with the partitions that there were."""
    file = live.partition_file
    before = partitions.read(file.read_text(encoding="utf-8")) if file.exists() else ()
    live.start()
    if before:
        live.apply(before)


def tell(instance: process.Here, subnet: RackSubnet, standin: StandIn) -> None:
    """Write `fabrics.yaml`, and the password beside it."""
    secret = instance.folder / "ufm.password"
    write_private(secret, standin.password + "\n")
    entry = {
        "url": standin.url,
        "username": standin.user,
        "password_file": str(secret),
        "ca_file": standin.ca_file,
    }
    text = yaml.safe_dump({"fabrics": {subnet.name: entry}}, sort_keys=False, width=1000)
    write_private(instance.folder / "fabrics.yaml", NOTE + text)


def main() -> None:
    """Serve until the process is asked to end."""
    process.die_when_uncaught()
    instance = process.here()
    subnet = rack_of(instance.folder).infiniband
    if subnet is None:
        raise SystemExit("the rack has no InfiniBand subnet")
    live = LiveSubnet(subnet.topology, instance.state / PROCESS, settings(subnet))
    restored(live)
    process.say("the subnet is up")
    standin = StandIn(live)
    standin.start(instance.ports[PROCESS])
    tell(instance, subnet, standin)

    def stop() -> None:
        standin.stop()
        live.stop()

    process.ready(instance, PROCESS)
    process.wait_for_the_end(stop)


if __name__ == "__main__":
    main()
