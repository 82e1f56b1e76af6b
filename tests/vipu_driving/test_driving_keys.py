"""The key of a V-IPU user on its way to a server: only where the server asks for it, and anew when the user is lost."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from interlock.channel.desk import Desk
from interlock.channel.tickets import Shelf
from interlock.planning.guest.document import CloudConfig
from interlock.planning.guest.secret_files import fetched_secrets
from interlock.provider.actuators import Phase, Target
from interlock.provider.actuators.stored_credential import StoredCredentialActuator
from interlock.provider.clouds import Cloud
from interlock.provider.codec import UNKNOWN
from interlock.provider.diffing import compare
from interlock.provider.pending_notes import note_on
from interlock.provider.pools import ThreadPools
from interlock.provider.state import Declared
from interlock.resources import ID_OF, StoredCredential
from interlock.resources.asked_names import TABLE, asked_names
from tests.channel.barbican import Answer, Barbican

from .stand import SERVER, Stand
from .vpod import CONTROLLER, OWNER, Vpod, planned

PLACE = "0c2f9a7e-1111-4000-8000-000000000000"
USER = f"{SERVER}/user/poplar-0"
NAME = "user-key"
KEY = StoredCredential(project="acme", credential="user", place="poplar-0", item="vipu")


def document(*names: str) -> str:
    return CloudConfig("poplar-0", (fetched_secrets(names),)).text()


@dataclass
class KeyManager:
    """Barbican as the provider asks it."""

    barbican: Barbican = field(default_factory=lambda: Barbican(lambda: datetime.now(UTC)))

    def items(self, path: str, key: str, **params: Any) -> Iterator[dict[str, Any]]:
        for ident, secret in self.barbican.secrets.items():
            if params.get("mode", secret.mode) == secret.mode and params.get("name", secret.name) == secret.name:
                yield self._listed(ident)

    def find(self, path: str, **_: Any) -> Any:
        ident = path.split("/")[2]
        if path.endswith("/metadata"):
            return self._body(self.barbican.request(path, "GET", log=False))
        return self._listed(ident) if ident in self.barbican.secrets else None

    def post(self, path: str, body: dict[str, str], **_: Any) -> Any:
        return self._body(self.barbican.request(path, "POST", log=False, json=body))

    def put(self, path: str, body: dict[str, Any], **_: Any) -> Any:
        return self._body(self.barbican.request(path, "PUT", log=False, json=body))

    def delete(self, path: str) -> None:
        self.barbican.request(path, "DELETE", log=False)

    def _listed(self, ident: str) -> dict[str, Any]:
        secret = self.barbican.secrets[ident]
        expires = None if secret.expiration is None else secret.expiration.isoformat()
        return {"secret_ref": f"http://b/v1/secrets/{ident}", "name": secret.name, "mode": secret.mode,
                "expiration": expires}  # fmt: skip

    @staticmethod
    def _body(answer: Answer) -> Any:
        return answer.body if answer.status_code < 400 else None


@dataclass
class Way:
    """A vPOD with its user, a server with a document, and what waits for it."""

    vpod: Vpod
    asks: str | None
    store: KeyManager = field(default_factory=KeyManager)

    @property
    def cloud(self) -> Cloud:
        cloud = self.vpod.cloud()
        server = {"id": PLACE}
        if self.asks is not None:
            server["OS-EXT-SRV-ATTR:user_data"] = base64.b64encode(self.asks.encode()).decode()

        class Nova:
            def find(self, path: str, **_: Any) -> Any:
                return {"server": server}

        cloud.api = lambda name, *_, **__: self.store if name == "key-manager" else Nova()  # type: ignore[assignment,method-assign]
        cloud.controllers._places[SERVER] = (CONTROLLER, "10.30.0.5")
        return cloud

    @property
    def target(self) -> Target[StoredCredential]:
        refs = {"place": PLACE, "credential": USER}
        return Target(NAME, OWNER, KEY, refs, self.vpod.stand.folder)

    def leave(self) -> str:
        actuator = StoredCredentialActuator()
        ident = actuator.create(self.cloud, self.target)
        actuator.finish(self.cloud, self.target, ident)
        return ident

    def seen(self, ident: str) -> tuple[Phase, str, bool]:
        found = StoredCredentialActuator().read(self.cloud, ident, self.target)
        assert found is not None
        return found.phase, found.reason, bool(found.outputs["by_hand"])

    def keys(self) -> str:
        """What the controller knows of the user's key."""
        return str(self.vpod.stand.desk.controller.state.users["poplar-0"])

    def declared(self, place: Any = PLACE) -> Declared:
        return Declared("StoredCredential", NAME, KEY, OWNER, {f"{ID_OF}place": place, f"{ID_OF}credential": USER})

    def said(self, *created: str, preview: bool, place: Any = PLACE, by_hand: bool = False) -> str:
        values = None if preview else {"by_hand": by_hand}
        return asyncio.run(note_on(ThreadPools(), self.cloud, self.declared(place), values, {*created}))


@pytest.fixture
def vpod(stand: Stand) -> Vpod:
    found = Vpod(stand)
    found.up(planned())
    return found


def test_a_server_that_never_asks_keeps_the_key_that_it_has(vpod: Vpod) -> None:
    """However often it is looked at: nothing waits, nothing expires, and no key is ended."""
    way = Way(vpod, document("s3"))
    before = way.keys()
    ident = way.leave()
    assert way.keys() == before
    assert way.seen(ident) == (Phase.READY, "", True)
    assert [secret.payload for secret in way.store.barbican.secrets.values()] == [None]
    shelf = Shelf(way.store.barbican)
    (ticket,) = shelf.tickets(PLACE)
    assert shelf.state(ticket, datetime.now(UTC)).startswith("brought by hand")
    reply = Desk(shelf).ask(PLACE)
    assert (reply.items, reply.said, reply.again) == ({}, ("vipu is brought by hand",), None)
    StoredCredentialActuator().delete(way.cloud, ident, way.target)
    assert not way.store.barbican.secrets


@pytest.mark.parametrize("asks", [document("s3", "vipu"), None, "#!/bin/sh"], ids=["asks", "not shown", "a script"])
def test_one_that_asks_gets_a_new_key(vpod: Vpod, asks: str | None) -> None:
    """And one of which nobody can tell."""
    way = Way(vpod, asks)
    before = way.keys()
    ident = way.leave()
    assert way.keys() != before
    assert way.seen(ident) == (Phase.READY, "", False)


@pytest.mark.parametrize("names", [("s3", "vipu"), ("s3",)], ids=["asks", "by hand"])
def test_the_key_of_a_lost_user_is_dead(vpod: Vpod, names: tuple[str, ...]) -> None:
    """Until it is left anew; a controller that does not answer says nothing of it."""
    way = Way(vpod, document(*names))
    ident = way.leave()
    vpod.stand.desk.do("remove partition p")
    vpod.stand.desk.do("remove user poplar-0")
    phase, reason, _ = way.seen(ident)
    assert phase is Phase.BROKEN
    assert reason == "V-IPU user poplar-0 is gone at its controller, and its key with it"
    vpod.controller = vpod.stand.controller()
    vpod.stand.serving.stop()
    assert way.seen(ident)[0] is Phase.READY


def test_a_user_that_is_made_anew_takes_its_key_along(vpod: Vpod) -> None:
    """Its id is the same, so nothing else shows it."""
    item = Way(vpod, document("vipu")).declared()
    olds = item.inputs()
    assert compare(item.kind, NAME, olds, item.inputs()).replaces == []
    assert compare(item.kind, NAME, olds, item.inputs(), created={"user"}).replaces == [f"{ID_OF}credential"]
    assert compare(item.kind, NAME, olds, item.inputs(), created={"another"}).replaces == []
    # A key of S3 has another id each time, by which it is seen: the same id is the same key.
    spec = item.spec.model_copy(update={"item": "s3"})
    stored = Declared(item.kind, item.name, spec, item.owner, item.ids).inputs()
    assert compare(item.kind, NAME, stored, stored, created={"user"}).replaces == []


def test_people_are_told_before_and_after(vpod: Vpod) -> None:
    old, young = Way(vpod, document("s3")), Way(vpod, document("s3", "vipu"))
    for said in (old.said("user", preview=True), old.said("user", preview=False, by_hand=True)):
        assert "never asks for vipu" in said
        assert "or recreate the server" in said
    for said in (young.said("user", preview=True), young.said("user", preview=False)):
        assert "rm /etc/interlock/secrets/vipu" in said
    # A new server asks for it at its first boot, and of a recreated one nobody knows the id yet.
    assert young.said("user", "poplar-0", preview=False) == ""
    assert old.said("user", preview=True, place=UNKNOWN) == ""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", frozenset()),
        (document(), frozenset()),
        (document("s3"), {"s3"}),
        (document("s3", "vipu"), {"s3", "vipu"}),
        ("#!/bin/sh\necho", None),
        ("#cloud-config\n- a", None),
        ("#cloud-config\nx: [", None),
        (f"#cloud-config\nwrite_files: [{{path: {TABLE}, content: 'x'}}]", None),
        (f"#cloud-config\nwrite_files: [{{path: {TABLE}, content: '{{}}'}}]", None),
    ],
)
def test_what_a_document_asks_for(text: str, names: frozenset[str] | None) -> None:
    assert asked_names(text) == names
