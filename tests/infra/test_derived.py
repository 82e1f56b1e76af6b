"""No verdict rests on a footprint in a file: what each lock holds is derived from request, claims and site (§9)."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from infra.locking.making import NO_FOOTPRINT
from infra.program.gate import Gate
from interlock.model.load import InputErrors, dump_lock
from interlock.model.lock.record import Allocation, Footprint, Lock, Released
from interlock.model.text.errors import Code
from interlock.resources import digest_of
from policies import Judgement, NotProved
from tests.infra.conftest import Interlock, Lyon
from tests.support.sampling import Sampling

ACME, GLOBEX = "tenants/acme.lock.json", "tenants/globex.lock.json"


def rewritten(lyon: Lyon, name: str, **changes: Any) -> Lock:
    """The lock of a tenant with other fields, sealed again and written."""
    lock = lyon.gate().workspace.locks[name].model_copy(update=changes).sealed()
    dump_lock(lock, lyon.file(f"tenants/{name}.lock.json"))
    return lock


def with_the_vlan_of_acme(lyon: Lyon, **changes: Any) -> Lock:
    """globex with acme's data VLAN, as two branches or a hand may leave it."""
    space = lyon.gate().workspace
    vlan = space.locks["acme"].allocation.vpods["train"].ipu_data_vlan
    vpod = space.locks["globex"].allocation.vpods["research"].model_copy(update={"ipu_data_vlan": vlan})
    return rewritten(lyon, "globex", allocation=Allocation(vpods={"research": vpod}), **changes)


def judgement(gate: Gate, tenant: str) -> Judgement:
    return gate.judge(tenant).judgement


def test_an_emptied_footprint_hides_no_claim(lyon: Lyon, interlock: Interlock) -> None:
    """Emptied and sealed again, both were proved: each judged itself beside a neighbour that held nothing."""
    with_the_vlan_of_acme(lyon, footprint=NO_FOOTPRINT)
    rewritten(lyon, "acme", footprint=NO_FOOTPRINT)
    for tenant in ("acme", "globex"):
        found = {item.rule for item in judgement(lyon.gate(), tenant).findings}
        assert {"ISO-01", "ISO-11"} & found
        with pytest.raises(NotProved):
            lyon.gate().prove(tenant)
        assert interlock("check", tenant).code == 1
        assert interlock("explain", "ISO-01", tenant).code == 0


def test_a_footprint_with_more_than_there_is_accuses_nobody(lyon: Lyon, interlock: Interlock) -> None:
    space = lyon.gate().workspace
    rewritten(lyon, "globex", footprint=space.locks["acme"].footprint)
    done = interlock("check")
    assert done.code == 0
    file = "stacks/lyon/tenants/globex.lock.json"
    assert f"note: {file}: its footprint is not what follows" in done.err
    assert "acme.lock.json" not in done.err
    assert interlock("lock", "--check").code == 1


def test_honest_locks_are_what_follows_byte_for_byte(lyon: Lyon, interlock: Interlock) -> None:
    gate = lyon.gate()
    assert dict(gate.held) == dict(gate.workspace.locks)
    assert not gate.held.unlike
    assert interlock("check").err == ""


def test_words_for_readers_decide_nothing(lyon: Lyon) -> None:
    mark = lyon.gate().workspace.locks["acme"].footprint
    lock = rewritten(lyon, "acme", footprint=mark.model_copy(update={"unknown": ("E1 a - b: nothing",)}))
    assert lyon.gate().held["acme"] == lock


def test_a_lock_older_than_its_request_is_judged_by_both(lyon: Lyon) -> None:
    """What its file says may be applied still; what its request says by now will be."""
    old = lyon.gate().workspace.locks["globex"]
    mark = old.footprint.model_copy(update={"exclusive": ("machine:SN-of-another",)})
    rewritten(lyon, "globex", footprint=mark, request="sha256:" + "0" * 64)
    held = lyon.gate().held["globex"].footprint
    assert set(held.exclusive) == {"machine:SN-of-another", *old.footprint.exclusive}
    assert judgement(lyon.gate(), "acme").exit_code == 0


def test_a_lock_that_its_request_does_not_fit_is_refused_with_its_name(lyon: Lyon, interlock: Interlock) -> None:
    lyon.replace("tenants/globex.yaml", "machines: 8", "machines: 4")
    with pytest.raises(InputErrors) as raised:
        lyon.gate().judge("acme")
    (error,) = raised.value.errors
    assert error.code is Code.LOCK_OLDER_THAN_REQUEST
    done = interlock("check", "acme")
    assert done.code == 2
    assert "stacks/lyon/tenants/globex.lock.json" in done.err
    assert "run `interlock lock globex`" in done.err


def sealed_by_hand(lyon: Lyon, change: Callable[[dict[str, Any]], Any]) -> None:
    """The lock of globex as a hand leaves it that seals what it wrote."""
    file = lyon.file(GLOBEX)
    value = json.loads(file.read_text(encoding="utf-8"))
    change(value)
    del value["hash"]
    file.write_text(json.dumps(value | {"hash": digest_of(value)}), encoding="utf-8")


#: Claims that hold nothing, or that nobody could read: the first two were passed over, the others were tracebacks.
NO_CLAIMS = [
    ("machine", "ipum-01"), ("ipu_data_vlans", "fabric100g:1000"), ("ipu_data_vlan", "fabric100g:1000 "),
    ("ipu_data_vlan", ""), ("control_vni", "x"), ("ipu_data_subnet", "10.32.0.0/33"), ("flavor", "poplar"),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "value"), NO_CLAIMS)
def test_what_was_released_under_no_name_of_a_claim_is_refused(lyon: Lyon, claim: str, value: str) -> None:
    entry = {"vpod": "old", "claim": claim, "value": value}
    sealed_by_hand(lyon, lambda lock: lock.update(released=[entry]))
    with pytest.raises(InputErrors, match=r"edited by hand: no lock says `released\.0` so"):
        lyon.gate()


@pytest.mark.parametrize(("field", "value"), [("ipu_data_vlan", -1), ("storage_subnet", "::/0"), ("control_vni", -5)])
def test_a_claim_that_nobody_can_read_is_refused(lyon: Lyon, field: str, value: object) -> None:
    sealed_by_hand(lyon, lambda lock: lock["allocation"]["vpods"]["research"].update({field: value}))
    with pytest.raises(InputErrors, match=f"edited by hand: no lock says `allocation.vpods.research.{field}` so"):
        lyon.gate()


def test_a_key_that_stands_twice_in_a_lock_is_refused(lyon: Lyon) -> None:
    """People read the first of the two, and the last one counts."""
    file = lyon.file(GLOBEX)
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"allocation": {', '"allocation": {"vpods": {}}, "allocation": {', 1), "utf-8")
    with pytest.raises(InputErrors, match="edited by hand: it says `allocation` twice"):
        lyon.gate()


def test_what_was_released_stays_listed_until_it_is_settled(lyon: Lyon) -> None:
    """A machine that globex released was renamed: nobody's by its old name, it was another's under the new one."""
    (machine, *_) = lyon.gate().workspace.locks["acme"].allocation.vpods["train"].machines
    rewritten(lyon, "globex", released=(Released(vpod="old", claim="machines", value=machine),))
    assert "TOP-06" in {item.rule for item in judgement(lyon.gate(), "acme").findings}
    rewritten(lyon, "globex", released=(Released(vpod="old", claim="machines", value="ipum-old"),))
    with pytest.raises(InputErrors, match="`globex` released ipum-old, and the site file lists no such device"):
        judgement(lyon.gate(), "acme")


def parts(mark: Footprint) -> list[tuple[str, int]]:
    """Every premise, label, class and exclusive identity of a footprint."""
    fields = ("premises", "classes", "exclusive")
    found = [(name, place) for name in fields for place in range(len(getattr(mark, name)))]
    return found + [("labels", place) for place in range(len(mark.labels))]


def lacking(mark: Footprint, part: tuple[str, int]) -> Footprint:
    """The footprint without one of its parts."""
    name, place = part
    items = list(mark.labels.items()) if name == "labels" else list(getattr(mark, name))
    del items[place]
    return mark.model_copy(update={name: dict(items) if name == "labels" else tuple(items)})


def test_no_part_that_is_taken_out_gives_a_better_verdict(lyon: Lyon, sampling: Sampling) -> None:
    """Each premise and label in turn, of two tenants that hold one VLAN: the judgement stays the same."""
    honest = with_the_vlan_of_acme(lyon)
    honest = rewritten(lyon, "globex", footprint=lyon.gate().held["globex"].footprint)
    expected = {tenant: judgement(lyon.gate(), tenant) for tenant in ("acme", "globex")}
    assert all(item.exit_code == 1 for item in expected.values())
    for part in sampling.some("parts of a footprint", parts(honest.footprint), 8):
        rewritten(lyon, "globex", footprint=lacking(honest.footprint, part))
        for tenant, before in expected.items():
            assert judgement(lyon.gate(), tenant) == before, part


REQUEST = """\
name: {name}
access: {{members: [alice], ssh_public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{key} {name}@example}}
vpods:
{vpods}
"""


def random_world(lyon: Lyon, rng: Random) -> None:
    """Tenants of random sizes, and half of the time a guard that nobody states."""
    for file in (lyon.folder / "tenants").glob("*"):
        file.unlink()
    if rng.random() < 0.5:
        guard = rng.choice(["no_forwarding: true", "partitions_enforced: true", "vlan_lists_enforced: true"])
        text = lyon.file("site.yaml").read_text()
        lyon.file("site.yaml").write_text(text.replace(guard, guard.replace("true", "unknown")))
    room = 16
    for name in ("acme", "globex", "carol"):
        vpods = []
        for vpod in ("train", "tune")[: rng.choice((1, 1, 2))]:
            fitting = [size for size in (1, 2, 4) if size <= room]
            if not fitting:
                break
            machines = rng.choice(fitting)
            room -= machines
            vpods.append(
                f"  {vpod}: {{machines: {machines}, poplar: {{servers: 1, flavor: poplar.half, image: poplar}}}}"
            )
        if not vpods:
            break  # the rack is full: a tenant fewer
        key = "".join(rng.choices("ABCDEFGHabcdefgh0123", k=43))
        text = REQUEST.format(name=name, key=key, vpods="\n".join(vpods))
        (lyon.folder / "tenants" / f"{name}.yaml").write_text(text)


def test_random_worlds_derive_what_is_locked_and_hide_nothing(
    unlocked: Lyon, interlock: Interlock, sampling: Sampling
) -> None:
    rng = sampling.random("derived worlds")
    for _ in range(sampling.count("derived worlds")):
        seed = rng.randrange(10**6)
        random_world(unlocked, world := Random(seed))
        done = interlock("lock")
        assert done.code == 0, (seed, done.err)
        gate = unlocked.gate()
        assert dict(gate.held) == dict(gate.workspace.locks), seed
        expected = {tenant: judgement(gate, tenant) for tenant in gate.workspace.tenants}
        for name, lock in gate.workspace.locks.items():
            part = world.choice(parts(lock.footprint))
            rewritten(unlocked, name, footprint=lacking(lock.footprint, part))
        again = unlocked.gate()
        assert {tenant: judgement(again, tenant) for tenant in expected} == expected, seed
        assert set(again.held.unlike) == set(expected)
