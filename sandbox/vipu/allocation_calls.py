"""Calls on allocations and users."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import string
from dataclasses import replace

from .objects import Allocation, ControllerState, VipuUser
from .refusals import VipuRefused
from .scene import Call, Outcome, Scene, checked_list, checked_new, without
from .shown import allocation_form, user_form

_LETTERS = string.ascii_letters + string.digits


def create_allocation(scene: Scene, call: Call) -> Outcome:
    """Agents for some users: given one by one, or all of a cluster."""
    state = scene.state
    name = checked_new(state.allocations, "allocation", call.id)
    agents = _agents_of(scene, call)
    allocation = Allocation(name, agents, _cluster_of_all(scene, agents))
    return Outcome(replace(state, allocations={**state.allocations, name: allocation}), allocation_form(allocation))


def _agents_of(scene: Scene, call: Call) -> tuple[str, ...]:
    listed, cluster = call.listed("agents"), call.text("cluster")
    if (listed is None) == (cluster is None):
        raise VipuRefused("no-agents")
    if cluster is not None:
        return scene.cluster(cluster).agents
    if not listed:
        raise VipuRefused("no-agents")
    return checked_list(listed)


def _cluster_of_all(scene: Scene, agents: tuple[str, ...]) -> str:
    """The one cluster of these agents. Raises VipuRefused."""
    clusters: list[str] = []
    for name in agents:
        cluster = scene.state.cluster_of(scene.agent(name).id)
        if cluster is None:
            raise VipuRefused("agent-free", agent=name)
        if clusters and clusters[0] != cluster.id:
            raise VipuRefused("two-clusters", agent=name)
        clusters.append(cluster.id)
    cluster = scene.cluster(clusters[0])
    if cluster.gone_at is not None:
        raise VipuRefused("cluster-not-ready", id=cluster.id, state=cluster.state)
    return cluster.id


def update_allocation(scene: Scene, call: Call) -> Outcome:
    """Another list of agents. It replaces the old one whole: of two admins at once the last one has it."""
    allocation = scene.allocation(call.id)
    agents = checked_list(tuple(call.required("agents")))
    cluster = _cluster_of_all(scene, agents)
    gone = tuple(name for name in allocation.agents if name not in agents)
    used = [item for item in scene.state.partitions_on(gone) if item.allocation == allocation.id]
    if used:
        raise VipuRefused("allocation-in-use", id=allocation.id, by=f"partition {used[0].id!r}")
    later = Allocation(allocation.id, agents, cluster)
    return Outcome(
        replace(scene.state, allocations={**scene.state.allocations, later.id: later}), allocation_form(later)
    )


def remove_allocation(scene: Scene, call: Call) -> Outcome:
    """Refused while it has a partition, or a user is restricted to it."""
    state, allocation = scene.state, scene.allocation(call.id)
    users = [f"partition {item.id!r}" for item in state.partitions.values() if item.allocation == allocation.id]
    users += [f"user {item.id!r}" for item in state.users.values() if allocation.id in (item.allocations or ())]
    if users:
        raise VipuRefused("allocation-in-use", id=allocation.id, by=users[0])
    return Outcome(replace(state, allocations=without(state.allocations, allocation.id)), {"id": allocation.id})


def get_allocation(scene: Scene, call: Call) -> Outcome:
    """One allocation."""
    return Outcome(scene.state, allocation_form(scene.allocation(call.id)))


def list_allocations(scene: Scene, _: Call) -> Outcome:
    """Those of the caller; without secure mode all of them."""
    shown = [item for item in scene.state.allocations.values() if scene.caller.sees(item.id)]
    return Outcome(scene.state, [allocation_form(item) for item in shown])


def new_key() -> str:
    """An access key of the shape that the guide shows: 11 characters, the fifth of them `_`."""
    letters = [secrets.choice(_LETTERS) for _ in range(11)]
    letters[4] = "_"
    return "".join(letters)


def new_user(name: str, key: str, *, admin: bool, allocations: tuple[str, ...] | None) -> VipuUser:
    """A user with that key, of which only a digest is kept."""
    salt = secrets.token_hex(8)
    return VipuUser(name, admin, allocations, salt, digest(salt, key))


def digest(salt: str, key: str) -> str:
    """What is kept of a key."""
    return hashlib.sha256(f"{salt}:{key}".encode()).hexdigest()


def knows(user: VipuUser, key: str) -> bool:
    """True if that is the user's key."""
    return hmac.compare_digest(user.key_digest, digest(user.salt, key))


def create_user(scene: Scene, call: Call) -> Outcome:
    """A user and its access key, which is told once. `--allocations` restricts; without it all are open."""
    name = checked_new(scene.state.users, "user", call.id)
    allocations = _known(scene, call)
    key = new_key()
    user = new_user(name, key, admin=call.given("admin"), allocations=allocations)
    return Outcome(_with_user(scene.state, user), {**user_form(user), "access_key": key})


def _known(scene: Scene, call: Call) -> tuple[str, ...] | None:
    named = call.listed("allocations")
    return None if named is None else tuple(scene.allocation(name).id for name in named)


def _with_user(state: ControllerState, user: VipuUser) -> ControllerState:
    return replace(state, users={**state.users, user.id: user})


def update_user(scene: Scene, call: Call) -> Outcome:
    """Other allocations, or another key: the old one is no longer taken."""
    user = scene.user(call.id)
    if call.listed("allocations") is not None:
        user = replace(user, allocations=_known(scene, call))
    if not call.given("new-access-key"):
        return Outcome(_with_user(scene.state, user), user_form(user))
    key = new_key()
    fresh = new_user(user.id, key, admin=user.admin, allocations=user.allocations)
    return Outcome(_with_user(scene.state, fresh), {**user_form(fresh), "access_key": key})


def remove_user(scene: Scene, call: Call) -> Outcome:
    """Its partitions stay. The last admin cannot go."""
    user = scene.user(call.id)
    if user.admin and sum(item.admin for item in scene.state.users.values()) == 1:
        raise VipuRefused("last-admin", user=user.id)
    return Outcome(replace(scene.state, users=without(scene.state.users, user.id)), {"id": user.id})


def get_user(scene: Scene, call: Call) -> Outcome:
    """One user, without its key."""
    return Outcome(scene.state, user_form(scene.user(call.id)))


def list_users(scene: Scene, _: Call) -> Outcome:
    """All of them."""
    return Outcome(scene.state, [user_form(item) for item in scene.state.users.values()])
