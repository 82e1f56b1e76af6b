"""Keys of S3 and of V-IPU users that wait in Barbican for a server: a secret, and the ticket that says who gets it.

Both carry the marker in `mode` from the request that makes them, so whatever a kill leaves is found by it and belongs
to this one object: nothing of another credential of the same server is touched, whoever is at work on it meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from interlock.channel.tickets import TICKET, WAITING, WAITS, Ticket, time_of, waiting_secret, whole, written
from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure, Trouble, refused
from interlock.provider.redaction import REDACTOR
from interlock.provider.registers import plain_id
from interlock.provider.vipu_keys import asked_by, brought_by_hand, is_lost, settings_with_new_key
from interlock.provider.vipu_users import ANY, USER_MADE
from interlock.resources import Resource, StoredCredential
from interlock.vocabulary.pair_ids import CredentialId, VipuId

from .base import Actuator, Ids, Observed, Phase, Target
from .s3 import opened_by

#: Nothing of these requests is logged: their bodies may hold the secret.
_UNLOGGED: Mapping[str, Any] = {"log": False}
_STOPPED = "the run that left it was stopped before the server was told of it"


class StoredCredentialActuator(Actuator[StoredCredential]):
    """The way of one key to one server. The id is Barbican's of the ticket, in the project of the login.

    What waits is the text of an AWS credentials file, munge's key, or settings of `vipu`. The ticket stays when the
    server has fetched it, and says so. One whose secret expired or was lost on the way, or that is for another server
    or key than is planned, will not become ready by itself: it is deleted and left again.

    What a person left for the server under the same name (`interlock channel put`), or another stack, is neither taken
    over nor deleted: both would wait, and the server would get whichever it is told last. So this one is refused until
    `interlock channel remove` has taken that away, also where the server has fetched it: then it is a record of a key
    that the server has and no plan knows.
    """

    KIND: ClassVar[type[Resource]] = StoredCredential
    SERVICE: ClassVar[str] = "key-manager"
    OUTPUTS: ClassVar[Mapping[str, str]] = {
        "by_hand": "true if nothing waits: its server was made when nobody knew of this key, and never asks for it",
        USER_MADE: "of a key of V-IPU: `made` of the user that it is of",
    }
    #: How long it waits for its server, as what a person leaves.
    LASTS: ClassVar[timedelta] = WAITS

    def still_pending(self, name: str, spec: StoredCredential, values: Mapping[str, Any]) -> str:
        return brought_by_hand(spec) if values.get("by_hand") else ""

    def search(self, cloud: Cloud, mark: str, project: str) -> Sequence[str]:
        del project  # the operator's own, whoever's the credential is
        return [plain_id(item) for item in _marked(cloud, mark) if str(item["name"]).startswith(TICKET)]

    def create(self, cloud: Cloud, target: Target[StoredCredential]) -> str:
        _check_alone(cloud, target)
        _discard_waiting(cloud, target.marker)
        api, server = cloud.api(self.SERVICE), target.one("place")
        if _never_asked(cloud, target):
            # No new key: it would end the one that somebody brought.
            return plain_id(api.post("/secrets", {"name": f"{TICKET}{server}", "mode": target.marker}, **_UNLOGGED))
        text = _file(cloud, target)
        body = waiting_secret(server, text, datetime.now(UTC).replace(microsecond=0) + self.LASTS)
        REDACTOR.add(body["payload"])
        plain_id(api.post("/secrets", body | {"mode": target.marker}, **_UNLOGGED))
        return plain_id(api.post("/secrets", {"name": f"{TICKET}{server}", "mode": target.marker}, **_UNLOGGED))

    def finish(self, cloud: Cloud, target: Target[StoredCredential], ident: str) -> None:
        server = target.one("place")
        # Once more, now that a person's `put` can see this ticket: one of the two sees the other.
        _check_alone(cloud, target)
        if _never_asked(cloud, target):
            # What waits is the ticket itself, which has nothing in it, and is no secret of anybody's.
            ticket = Ticket(
                ident, target.spec.item, ident, datetime.now(UTC), credential=target.one("credential"), by_hand=True,
                user_made=_word_of_user(cloud, target),
            )  # fmt: skip
            cloud.api(self.SERVICE).put(f"/secrets/{ident}/metadata", {"metadata": written(ticket)}, **_UNLOGGED)
            return
        waiting = [item for item in _marked(cloud, target.marker) if item["name"] == f"{WAITING}{server}"]
        expires = time_of(waiting[0]["expiration"]) if len(waiting) == 1 else None
        if expires is None:
            found = f"of its secret Barbican lists {len(waiting)}"
            raise Failure(Trouble.NOT_READY, f"{target.spec.KIND} {target.name}: {found}", service="the key manager")
        ticket = Ticket(
            ident, target.spec.item, plain_id(waiting[0]), expires, credential=target.one("credential"),
            user_made=_word_of_user(cloud, target),
        )  # fmt: skip
        cloud.api(self.SERVICE).put(f"/secrets/{ident}/metadata", {"metadata": written(ticket)}, **_UNLOGGED)

    def read(self, cloud: Cloud, ident: str, target: Target[StoredCredential] | None = None) -> Observed | None:
        listed = cloud.api(self.SERVICE).find(f"/secrets/{ident}", **_UNLOGGED)
        if listed is None or not str(listed["name"]).startswith(TICKET):
            return None
        ticket, mark = _ticket(cloud, listed), str(listed["mode"] or "")
        if ticket is None:
            return Observed(ident, mark, phase=Phase.BROKEN, reason=_STOPPED)
        references: dict[str, Ids] = {"place": str(listed["name"]).removeprefix(TICKET)}
        if ticket.credential:
            references["credential"] = ticket.credential
        reason = _is_another(target, ticket, references) or _dead(cloud, ticket, str(references["place"]))
        reason = reason or _gone(cloud, listed, ticket)
        phase = Phase.BROKEN if reason else Phase.READY
        known = {"by_hand": ticket.by_hand, USER_MADE: ticket.user_made}
        return Observed(ident, mark, {"item": ticket.item}, references, known, phase=phase, reason=reason)

    def delete(self, cloud: Cloud, ident: str, target: Target[StoredCredential]) -> None:
        # Before the ticket, which tells of it.
        _discard_waiting(cloud, target.marker)
        cloud.api(self.SERVICE).delete(f"/secrets/{ident}")

    def left_behind(self, cloud: Cloud, target: Target[StoredCredential]) -> str:
        """Somebody may have deleted the ticket alone: without it nobody gets the secret, which goes here."""
        _discard_waiting(cloud, target.marker)
        return ""


def _never_asked(cloud: Cloud, target: Target[StoredCredential]) -> bool:
    """True of the key of a V-IPU user whose server was made with a document that does not ask for it."""
    if _user_of_vipu(target.one("credential")) is None:
        return False
    names = asked_by(cloud, target.one("place"))
    return names is not None and target.spec.item not in names


def _word_of_user(cloud: Cloud, target: Target[StoredCredential]) -> str:
    """Which making of its user a key of V-IPU is of; empty of other keys, and of a user of before there were words."""
    user = _user_of_vipu(target.one("credential"))
    word = "" if user is None else cloud.controllers.users.word(str(user))
    return ANY if word is None else word


def _dead(cloud: Cloud, ticket: Ticket, server: str) -> str:
    """Why the key is no good any more, whoever has it; empty if nobody knows that it is not."""
    user = _user_of_vipu(ticket.credential) if ticket.credential else None
    if user is None:
        return ""
    if cloud.controllers.users.is_of_another(str(user), ticket.user_made):
        return f"V-IPU user {user.name} was recreated since, and has another key"
    return (
        f"V-IPU user {user.name} is gone at its controller, and its key with it" if is_lost(cloud, user, server) else ""
    )


def _marked(cloud: Cloud, mark: str) -> Iterator[Mapping[str, Any]]:
    """Secrets and tickets with exactly this marker, as Barbican lists them: it compares by SQL's LIKE."""
    for item in cloud.api(StoredCredentialActuator.SERVICE).items("/secrets", "secrets", mode=mark, limit=100):
        if item["mode"] == mark:
            yield item


def _discard_waiting(cloud: Cloud, mark: str) -> None:
    """Delete the secrets with this marker that nobody has fetched."""
    for item in list(_marked(cloud, mark)):
        if str(item["name"]).startswith(WAITING):
            cloud.api(StoredCredentialActuator.SERVICE).delete(f"/secrets/{plain_id(item)}")


def _check_alone(cloud: Cloud, target: Target[StoredCredential]) -> None:
    """Raises a refusal if anybody else left something for the server under the same name."""
    server, item = target.one("place"), target.spec.item
    name = f"{TICKET}{server}"
    for listed in cloud.api(StoredCredentialActuator.SERVICE).items("/secrets", "secrets", name=name, limit=100):
        if listed["name"] != name or listed["mode"] == target.marker:
            continue
        ticket = _ticket(cloud, listed)
        if ticket is None or ticket.item != item:
            continue
        who = f"{ticket.owner} leaves it" if ticket.owner else "a person did (`interlock channel put`)"
        remove = f"interlock channel remove {server}{' --of-stacks' if ticket.owner else ''}"
        raise refused(
            f"{target.spec.KIND} {target.name}: {item} was left for server {server} already: {who}, as {ticket.id}",
            f"run `interlock channel look {server}`; if nobody needs it any more, `{remove}`, "
            "then `pulumi up` again: what this stack leaves for it is left again after `pulumi refresh`",
        )


def _file(cloud: Cloud, target: Target[StoredCredential]) -> str:
    """The key as AWS clients read it, or munge, or `vipu`. Its secret half is Keystone's to tell, or the V-IPU
    controller's, and is recorded nowhere.
    """
    if (user := _user_of_vipu(target.one("credential"))) is not None:
        return settings_with_new_key(cloud, user, target.one("place"))
    key = CredentialId.parse(target.one("credential"))
    found = cloud.api("identity").find(f"/users/{key.user}/credentials/OS-EC2/{key.access}", **_UNLOGGED)
    if found is None:
        raise refused(
            f"{target.spec.KIND} {target.name}: Keystone has no S3 key {key.access} of user {key.user} any more",
            "run `pulumi refresh --target` on the S3Credential, then `pulumi up`: it makes a new key",
        )
    secret = found["credential"]["secret"]
    REDACTOR.add(secret)
    if opened_by(key.access) == "munge":
        return str(secret)
    return f"[default]\naws_access_key_id = {key.access}\naws_secret_access_key = {secret}\n"


def _user_of_vipu(credential: str) -> VipuId | None:
    """The user of a V-IPU controller that a credential is; None if it is a key of Keystone's."""
    try:
        return VipuId.parse(credential)
    except ValueError:
        return None


def _ticket(cloud: Cloud, listed: Mapping[str, Any]) -> Ticket | None:
    """None while it is being written."""
    path = f"/secrets/{plain_id(listed)}/metadata"
    found = cloud.api(StoredCredentialActuator.SERVICE).find(path, **_UNLOGGED)
    return None if found is None else whole(listed, found["metadata"])


def _is_another(target: Target[StoredCredential] | None, ticket: Ticket, found: Mapping[str, Ids]) -> str:
    """What a ticket is for, where that is not what is wanted; empty if it is."""
    if target is None:
        return ""
    wanted = (target.refs.get("place"), target.refs.get("credential"), target.spec.item)
    if (found["place"], found.get("credential"), ticket.item) == wanted:
        return ""
    return f"it hands {ticket.credential or 'an unnamed key'} to server {found['place']} as {ticket.item}"


def _gone(cloud: Cloud, listed: Mapping[str, Any], ticket: Ticket) -> str:
    """Why nobody can fetch a secret that nobody is noted to have fetched; empty if all is well."""
    if ticket.by_hand or ticket.taken is not None:
        return ""
    if cloud.api(StoredCredentialActuator.SERVICE).find(f"/secrets/{ticket.secret}", **_UNLOGGED) is not None:
        return ""
    # The service deletes the secret first, and notes that a moment later.
    now = _ticket(cloud, listed)
    if now is None or now.taken is not None:
        return ""
    if datetime.now(UTC) >= ticket.expires:
        return f"nobody fetched it until {ticket.expires:%Y-%m-%d %H:%M:%S} UTC, when it expired"
    return "its secret is gone, and no server is known to have it"
