"""The cloud on which is killed: the sandbox behind the proxy, provider processes, and the operator's view past it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interlock.provider.actuators import ACTUATORS, Target
from interlock.provider.actuators.s3 import client_with, usable_keys
from interlock.provider.clouds import Cloud
from interlock.provider.state import declared, recorded_target
from tests.conftest import Sandbox
from tests.faults.proxy import Proxy
from tests.faults.world import SERVICES
from tests.kills import reference
from tests.kills.inventory import SERVICES as LISTED
from tests.kills.inventory import Inventory, changed, inventory
from tests.kills.victims import Victim, Zygote
from tests.support.cloud.fabric import SERVICE, Fabric, running
from tests.support.cloud.nodes import enrolled
from tests.support.cloud.proxied import proxied
from tests.support.engine.process import Recorded
from tests.support.engine.stack import Stack

#: Everything that is looked at.
EVERYWHERE = LISTED | {SERVICE}

#: Where in a volume a tenant writes, and the name of an object in a bucket.
PLACE, OBJECT = 4096, "written"


@dataclass
class Ground:
    """What all points share."""

    proxy: Proxy
    zygote: Zygote
    #: The operator's hands, past the proxy.
    direct: Cloud
    #: The sandbox's own files of volumes and backups.
    disks: Path
    fabric: Fabric
    #: Plan name -> what its tenant wrote there last, and to which object.
    written: dict[str, bytes] = field(default_factory=dict)
    written_to: dict[str, str] = field(default_factory=dict)

    def victim(self) -> Victim:
        """A new provider process."""
        self.proxy.seen.clear()
        return self.zygote.victim()

    def look(self, services: Collection[str] = EVERYWHERE) -> Inventory:
        """What lies on the cloud now, and in the tables of the InfiniBand subnet."""
        found = inventory(self.direct, services)
        return found + self.fabric.inventory() if SERVICE in services else found

    def left(self, stack: Stack, held: dict[str, Recorded]) -> dict[str, str]:
        """What can still be read of objects that the state held and holds no more."""
        found = {}
        for name, recorded in held.items():
            if name not in stack.state or stack.state[name].id != recorded.id:
                seen = ACTUATORS[stack.kinds[name]].read(self.direct, recorded.id, _target(stack, name, recorded))
                if seen is not None:
                    found[name] = repr(sorted(seen.fields.items()))
                if recorded.inputs.get("on_delete") == "snapshot":
                    found[name] = repr(self._copies(name, recorded.id))
        return found

    def write(self, stack: Stack, name: str) -> None:
        """As a guest or a tenant's program would."""
        text = f"what was written to {name} ({stack.state[name].id})".encode()
        if stack.kinds[name] == "Volume":
            with (self.disks / "volumes" / stack.state[name].id).open("r+b") as file:
                file.seek(PLACE)
                file.write(text)
        else:
            self._client(stack, name).put_object(Bucket=_bucket(stack, name), Key=OBJECT, Body=text)
        self.written[name], self.written_to[name] = text, stack.state[name].id

    def _copies(self, name: str, volume: str) -> list[tuple[str, bool]]:
        """Of each copy of a volume its state, and whether it holds what was written last."""
        copies = [item for item in self.backups() if item["volume_id"] == volume]
        return [(item["status"], self.kept("backups", item["id"], name)) for item in copies]

    def unharmed(self, stack: Stack) -> None:
        """Asserts that all that was written is where it was written."""
        for name, ident in self.written_to.items():
            if name not in stack.state or stack.state[name].id != ident:
                continue  # deleted because the request said so: what becomes of it then, `left` tells
            if stack.kinds[name] == "Volume":
                assert self.kept("volumes", stack.state[name].id, name), f"the data of {name} are gone"
            else:
                found = self._client(stack, name).get_object(Bucket=_bucket(stack, name), Key=OBJECT)
                assert found["Body"].read() == self.written[name], f"the data of {name} are gone"

    def kept(self, where: str, ident: str, name: str) -> bool:
        """True if a volume, or a backup, holds what was written to the volume of this plan name."""
        with (self.disks / where / ident).open("rb") as file:
            file.seek(PLACE)
            return file.read(len(self.written[name])) == self.written[name]

    def backups(self) -> list[dict[str, Any]]:
        """All there are."""
        found = self.direct.api("block-storage").items("/backups/detail", "backups", all_tenants=1)
        return list(found)

    def discard_backups(self) -> None:
        """As an operator does when nobody needs them any more."""
        for item in self.backups():
            self.direct.api("block-storage").delete(f"/backups/{item['id']}")
        while self.backups():
            pass

    def _client(self, stack: Stack, name: str) -> Any:
        return client_with(self.direct, usable_keys(self.direct, _target(stack, name, stack.state[name]))[0], "")


def _target(stack: Stack, name: str, recorded: Recorded) -> Target[Any]:
    return recorded_target(declared(stack.kinds[name], name, recorded.inputs), recorded.outputs)


def _bucket(stack: Stack, name: str) -> str:
    return str(stack.state[name].inputs["name"])


@contextmanager
def ground(sandbox: Sandbox, folder: Path) -> Iterator[Ground]:
    """The sandbox behind the proxy; afterwards there is nothing on it that was not there before."""
    node = enrolled(Cloud(sandbox.cloud), reference.NODE, reference.SERVICE_VLAN, *reference.LEGS)
    with node, running("kills") as fabric, proxied(sandbox, folder, SERVICES, fabric) as proxy:
        zygote = Zygote(Path(os.environ["OS_CLIENT_CONFIG_FILE"]), folder)
        try:
            found = Ground(proxy, zygote, Cloud("direct"), sandbox.dir / "state" / "cinder", fabric)
            before = found.look()
            yield found
            left = changed(before, found.look())
            assert not left, f"left behind: {dict(left)}"
        finally:
            zygote.close()
