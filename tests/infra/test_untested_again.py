"""LIF-13 stays with the device: whoever has it next, under whatever name, owes the self-test that nobody has seen.

site.yaml: ipum-03 has another serial ── lock ── it is given up, moved, renamed ── lock ── given out again ── lock
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.model.lock.files import dump_lock, load_lock
from interlock.model.lock.record import Lock, SiteLock
from tests.infra.conftest import Interlock, Lyon
from tests.infra.evidence import STEPS, now, of_machine, write
from tests.infra.test_replaced import NEW, OLD, OTHERS, SERIALS, of
from tests.infra.test_settle_evidence import quiet_cloud

MACHINES = "machines: 4 # or `ipus: 16`"
REQUEST = "tenants/acme.yaml"
FAILED = "{ipum-03: {state: failed, reason: no link}}"


@pytest.fixture
def other(lyon: Lyon, interlock: Interlock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Lyon:
    """acme's ipum-03 was replaced, and everything is locked again."""
    quiet_cloud(monkeypatch, tmp_path)
    lyon.replace("site.yaml", SERIALS, OTHERS)
    locked(interlock)
    assert untested(lyon, "acme") == ["train ipum-03"]
    return lyon


def locked(interlock: Interlock, *tenants: str) -> str:
    done = interlock("lock", *tenants)
    assert done.code == 0, done.err
    return done.err


def untested(lyon: Lyon, tenant: str) -> list[str]:
    """`<vPOD> <device>` of each that a tenant's lock notes, all of them ipum-03's replacement."""
    lock = load_lock(lyon.file(f"tenants/{tenant}.lock.json"), "", Lock)
    assert {one.serial for one in lock.replaced} <= {NEW}
    return [f"{one.vpod} {one.device}" for one in lock.replaced]


def of_site(lyon: Lyon) -> SiteLock:
    return load_lock(lyon.file("site.lock.json"), "", SiteLock)


def shrunk(lyon: Lyon) -> None:
    """acme has its first two machines only."""
    lyon.replace(REQUEST, MACHINES, "machines: 2")


def grown(lyon: Lyon) -> None:
    """acme has its four machines again, by name."""
    lyon.replace(REQUEST, "machines: 2", MACHINES)
    pinned(lyon, "acme", "train", "ipum-[01-04]")


def pinned(lyon: Lyon, tenant: str, vpod: str, machines: str) -> None:
    file = lyon.file(f"tenants/{tenant}.yaml")
    file.write_text(f'{file.read_text()}\npins: {{{vpod}: {{machines: ["{machines}"]}}}}\n')


def test_given_up_and_taken_again(other: Lyon, interlock: Interlock) -> None:
    shrunk(other)
    locked(interlock)
    assert untested(other, "acme") == []
    assert [(one.device, one.before, one.serial) for one in of_site(other).untested] == [("ipum-03", OLD, NEW)]
    grown(other)
    assert f"machine ipum-03: {OLD} replaced by {NEW}, untested" in locked(interlock)
    assert untested(other, "acme") == ["train ipum-03"]
    assert interlock("check", "acme").code == 3
    assert "LIF-13" in interlock("check", "acme").out
    before = other.locks()
    locked(interlock)
    assert other.locks() == before
    assert interlock("lock", "--check").code == 0


def test_a_lock_that_leaves_it_out_differs(other: Lyon, interlock: Interlock) -> None:
    file = other.file("tenants/acme.lock.json")
    lock = load_lock(file, "", Lock)
    dump_lock(lock.model_copy(update={"replaced": ()}).sealed(), file)
    done = interlock("lock", "--check")
    assert done.code == 1
    assert "`replaced` says nothing and should say" in done.out


def test_another_tenant_gets_it(other: Lyon, interlock: Interlock) -> None:
    """What acme gave up was seen clean, and of its replacement no more than that."""
    shrunk(other)
    locked(interlock)
    settle_clean(other, interlock)
    assert of_site(other).untested
    third(other)
    locked(interlock)
    assert untested(other, "third") == ["only ipum-03"]
    assert interlock("check", "third").code == 3
    # Of whoever tests it the note goes, and from nowhere else it comes back.
    write(other, of(NEW, "self-tested"), released_by="third", name="third")
    assert f"third: ipum-03 ({NEW}) was seen self-tested" in interlock("settle", "third").err
    assert (untested(other, "third"), of_site(other).untested) == ([], ())
    locked(interlock)
    assert untested(other, "third") == []
    assert interlock("lock", "--check").code == 0


def settle_clean(lyon: Lyon, interlock: Interlock) -> None:
    """Each step of what is released but the self-test of the new one, by a lock that notes it as settled."""
    file = lyon.file("tenants/acme.lock.json")
    lock = load_lock(file, "", Lock)
    dump_lock(lock.model_copy(update={"released": ()}).sealed(), file)
    locked(interlock)


def third(lyon: Lyon) -> None:
    """A tenant with ipum-03 alone."""
    text = lyon.file("tenants/globex.yaml").read_text()
    text = text.replace("Globex", "Third").replace("bob", "carol").replace("machines: 8", "machines: 1")
    text = text.replace("research:", "only:").replace("K5LwnoymeFtwg6PSrWsUi6uqNZWKXtREdKhjcgSHCzs", "KqX" + "A" * 40)
    lyon.file("tenants/third.yaml").write_text(text)
    pinned(lyon, "third", "only", "ipum-03")


@pytest.mark.parametrize("change", [
    lambda lyon: lyon.replace(REQUEST, "  train:", "  other:"),
    lambda lyon: lyon.replace(REQUEST, "name: Acme", "state: gone\nname: Acme"),
], ids=["another vPOD", "no vPOD"])  # fmt: skip
def test_another_vpod_of_the_same_tenant(other: Lyon, interlock: Interlock, change: Callable[[Lyon], None]) -> None:
    text = other.file(REQUEST).read_text()
    change(other)
    locked(interlock)
    settle_clean(other, interlock)
    other.file(REQUEST).write_text(text.replace("  train:", "  again:"))
    pinned(other, "acme", "again", "ipum-[01-04]")
    locked(interlock)
    assert untested(other, "acme") == ["again ipum-03"]


def test_a_tenant_whose_lock_is_lost(other: Lyon, interlock: Interlock) -> None:
    other.file("tenants/acme.lock.json").unlink()
    locked(interlock)
    assert untested(other, "acme") == ["train ipum-03"]


def test_a_tenant_that_is_gone(other: Lyon, interlock: Interlock) -> None:
    for name in ("acme.yaml", "acme.lock.json"):
        other.file(f"tenants/{name}").unlink()
    locked(interlock)
    third(other)
    locked(interlock)
    assert untested(other, "third") == ["only ipum-03"]


def test_out_of_service_in_between(other: Lyon, interlock: Interlock) -> None:
    shrunk(other)
    locked(interlock)
    other.replace("site.yaml", OTHERS, f"{OTHERS}\n      states: {FAILED}")
    locked(interlock)
    other.replace("site.yaml", f"\n      states: {FAILED}", "")
    grown(other)
    locked(interlock)
    assert untested(other, "acme") == ["train ipum-03"]


def test_under_another_name(other: Lyon, interlock: Interlock) -> None:
    """The two swap their places; each is another device where it stands now, and the one of them still untested."""
    swapped = OTHERS.replace(
        f'{NEW}, "PLACEHOLDER-M2000-[04-16]"', f'PLACEHOLDER-M2000-04, {NEW}, "PLACEHOLDER-M2000-[05-16]"'
    )
    other.replace("site.yaml", OTHERS, swapped)
    locked(interlock)
    lock = load_lock(other.file("tenants/acme.lock.json"), "", Lock)
    assert [(one.device, one.serial) for one in lock.replaced] == [
        ("ipum-03", "PLACEHOLDER-M2000-04"), ("ipum-04", NEW),
    ]  # fmt: skip
    assert {one.serial for one in of_site(other).untested} == {"PLACEHOLDER-M2000-04", NEW}


def test_replaced_twice(other: Lyon, interlock: Interlock) -> None:
    """The first replacement was never tested: back at another place, it still owes the test."""
    third_one = OTHERS.replace(NEW, "M2000-NEWER")
    other.replace("site.yaml", OTHERS, third_one)
    locked(interlock)
    lock = load_lock(other.file("tenants/acme.lock.json"), "", Lock)
    assert [(one.before, one.serial) for one in lock.replaced] == [(NEW, "M2000-NEWER")]
    write(other, of("M2000-NEWER", "self-tested"))
    interlock("settle", "acme")
    assert [one.serial for one in of_site(other).untested] == [NEW]


def test_one_of_nobody(lyon: Lyon, interlock: Interlock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No tenant's lock knows it; the operator's does, and evidence of its test is looked at by whichever run comes."""
    quiet_cloud(monkeypatch, tmp_path)
    lyon.replace("site.yaml", SERIALS, 'serials: ["PLACEHOLDER-M2000-[01-04]", M2000-NEW, "PLACEHOLDER-M2000-[06-16]"]')
    said = locked(interlock)
    assert f"  warning: machine ipum-05: PLACEHOLDER-M2000-05 replaced by {NEW}, untested" in said
    third(lyon)
    lyon.replace("tenants/third.yaml", "ipum-03", "ipum-05")
    locked(interlock)
    assert untested(lyon, "third") == ["only ipum-05"]
    seen = {"machine": "ipum-05", "serial": NEW, "step": "self-tested", "at": now(seconds=1), "by": "Anne"}
    write(lyon, [seen], released_by="third", name="third")
    interlock("settle", "third")
    assert (untested(lyon, "third"), of_site(lyon).untested) == ([], ())


def test_what_was_settled_was_tested(other: Lyon, interlock: Interlock) -> None:
    """A self-test is the last step of a release: evidence of it takes the note away, and nothing less does."""
    shrunk(other)
    locked(interlock)
    steps = [*of(OLD, *STEPS), *of(NEW, *STEPS), *of_machine("ipum-04")]
    write(other, [one for one in steps if (one["serial"], one["step"]) != (NEW, "self-tested")])
    assert interlock("settle", "acme").code == 3
    assert [one.serial for one in of_site(other).untested] == [NEW]
    write(other, steps)
    assert interlock("settle", "acme").code == 0
    assert of_site(other).untested == ()


def test_an_idle_one_that_was_tested_owes_nothing(other: Lyon, interlock: Interlock) -> None:
    shrunk(other)
    locked(interlock)
    write(other, of(NEW, "self-tested"))
    assert f"site: ipum-03 ({NEW}) was seen self-tested" in interlock("settle", "acme").err
    grown(other)
    locked(interlock)
    assert untested(other, "acme") == []


def test_an_operators_lock_of_before(other: Lyon, interlock: Interlock) -> None:
    """It recorded no devices: what tenants' locks note is taken over before any of them gives it up."""
    file = other.file("site.lock.json")
    lock = of_site(other).model_copy(update={"serials": {}, "untested": ()}).sealed()
    dump_lock(lock, file)
    shrunk(other)
    locked(interlock)
    assert [one.serial for one in of_site(other).untested] == [NEW]
    grown(other)
    locked(interlock)
    assert untested(other, "acme") == ["train ipum-03"]


def test_an_operators_lock_of_before_stays_where_nothing_is_to_be_said(lyon: Lyon, interlock: Interlock) -> None:
    file = lyon.file("site.lock.json")
    dump_lock(of_site(lyon).model_copy(update={"serials": {}, "untested": ()}).sealed(), file)
    before = lyon.locks()
    locked(interlock)
    assert lyon.locks() == before
    assert interlock("lock", "--check").code == 0
