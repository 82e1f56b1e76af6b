"""`interlock rollout`: objects of the operator's stack change beside tenants, step by step, on a store in a folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from infra.program.gate import Gate
from interlock.store.ledger import Ledger, Outdated
from interlock.store.records import Taking
from tests.infra.conftest import Interlock, Lyon

SITE, ACME, GLOBEX = "lyon-site", "lyon-acme", "lyon-globex"


@dataclass
class Engine:
    """Stacks as the engine applies them, without a cloud: claims first, the old ones dropped when all else is done."""

    store: Ledger
    lineages: dict[str, str] = field(default_factory=dict)

    def begin(self, tenant: str | None) -> Taking:
        """An `up` that is killed once its claims are taken."""
        gate = Gate.open("lyon").with_applied()
        taking = gate.taking(gate.prove(tenant))
        assert taking is not None
        self.take(taking)
        return taking

    def take(self, taking: Taking) -> None:
        self.lineages[taking.stack] = self.store.take(taking, self.lineages.get(taking.stack)).lineage

    def up(self, *tenants: str | None) -> None:
        for tenant in tenants:
            self.end(self.begin(tenant))

    def end(self, taking: Taking) -> None:
        lineage = self.lineages[taking.stack]
        record = self.store.stack(taking.stack)
        assert record is not None
        for entry in record.entries:
            if entry.digest != taking.entry.digest:
                self.store.drop(taking.stack, lineage, entry.digest)
        self.store.settle_objects(taking, lineage)


@pytest.fixture
def engine(lyon: Lyon, store: Ledger) -> Engine:
    """All of lyon applied."""
    found = Engine(store)
    found.up(None, "acme", "globex")
    return found


@pytest.fixture
def rollout(interlock: Interlock) -> Callable[[], dict[str, Any]]:
    """What is left, as JSON; the exit code must say the same."""

    def ask() -> dict[str, Any]:
        done = interlock("rollout", "--format", "json")
        found: dict[str, Any] = json.loads(done.out)
        assert done.code == (1 if found["steps"] else 0), done.err
        return found

    return ask


Rollout = Callable[[], dict[str, Any]]


def stacks(found: dict[str, Any]) -> list[str]:
    return [step["stack"] for step in found["steps"]]


def another_image(lyon: Lyon, interlock: Interlock) -> None:
    """Everybody is to have it, and the site has the old one no more."""
    lyon.replace("site.yaml", "  poplar: &placeholder", "  poplar-2: &placeholder")
    lyon.replace("site.yaml", "image: poplar, volume_type", "image: poplar-2, volume_type")
    lyon.replace("tenants/acme.yaml", "image: poplar,", "image: poplar-2,")
    assert interlock("lock").code == 0


def offered(store: Ledger) -> set[str]:
    record = store.stack(SITE)
    assert record is not None
    return {f"{item.kind}/{item.name}" for item in record.offers if item.kind in ("Image", "VolumeType", "ShareType")}


def test_an_image_for_another_in_four_steps(lyon: Lyon, interlock: Interlock, engine: Engine, rollout: Rollout) -> None:
    assert rollout() == {"version": 1, "site": "lyon", "kept": [], "steps": []}
    another_image(lyon, interlock)
    found = rollout()
    assert stacks(found) == [SITE, ACME, GLOBEX, SITE]
    assert found["kept"] == [{"object": "site:Image/poplar", "used_by": [ACME, GLOBEX]}]
    first, second, _, last = found["steps"]
    assert (first["adds"], first["goes"], last["goes"]) == (["site:Image/poplar-2"], [], ["site:Image/poplar"])
    assert {(move["resource"], move["does"]) for move in second["moves"]} == {
        ("acme-train-poplar-0", "replace"), ("acme-train-poplar-1", "replace"),
    }  # fmt: skip
    for tenant, left in ((None, [ACME, GLOBEX, SITE]), ("globex", [ACME, SITE]), ("acme", [SITE]), (None, [])):
        assert "Image/poplar" in offered(engine.store)
        engine.up(tenant)
        assert stacks(rollout()) == left
    assert "Image/poplar" not in offered(engine.store)


def test_what_stands_on_a_controller_that_moves_is_told(
    lyon: Lyon, interlock: Interlock, engine: Engine, rollout: Rollout
) -> None:
    """Its V-IPU goes with it, and with that a partition; unless its request lets it, `pulumi up` refuses."""
    lyon.replace("site.yaml", "  vipu-controller: *placeholder", "  vipu-controller-2: *placeholder")
    lyon.replace("site.yaml", "image: vipu-controller,", "image: vipu-controller-2,")
    for may, told in (("", True), (", replaceable: true", False)):
        before = "" if told else "\n    partitions: {jobs: {ipus: 16}}"
        change = f"\n    partitions: {{jobs: {{ipus: 16{may}}}}}"
        lyon.replace("tenants/acme.yaml", f"volume: 100GiB}}{before}", f"volume: 100GiB}}{change}")
        assert interlock("lock").code == 0
        acme = next(step for step in rollout()["steps"] if step["stack"] == ACME)
        assert [(move["resource"], move["does"]) for move in acme["moves"]] == [("acme-train-controller", "replace")]
        assert ("acme-train-partition-jobs: it stands on what is replaced" in acme["note"]) is told


def test_the_operators_plan_keeps_what_is_used_as_it_was_applied(
    lyon: Lyon, interlock: Interlock, engine: Engine
) -> None:
    before = Gate.open("lyon").plan(None).by_name["poplar"]
    another_image(lyon, interlock)
    gate = Gate.open("lyon").with_applied()
    assert gate.prove(None).plan.by_name["poplar"] == before
    assert [words.split(";")[0] for words in gate.standing.words()] == [
        "kept: Image/poplar is not in the site file, and is used by lyon-acme, lyon-globex"
    ]
    # Nobody looked at the store: nothing is known of users, and nothing is kept.
    assert "poplar" not in Gate.open("lyon").plan(None).by_name


def test_an_up_that_was_killed_still_uses_old_and_new(
    lyon: Lyon, interlock: Interlock, engine: Engine, rollout: Rollout
) -> None:
    another_image(lyon, interlock)
    engine.up(None, "globex")
    killed = engine.begin("acme")
    assert stacks(rollout()) == [ACME, SITE]
    engine.up(None)
    assert "Image/poplar" in offered(engine.store)
    engine.end(killed)
    assert stacks(rollout()) == [SITE]


def test_of_two_at_once_one_is_refused(lyon: Lyon, interlock: Interlock, engine: Engine) -> None:
    """The image is taken away while a tenant that was proved before begins to use it: whoever is second is refused."""
    gate = Gate.open("lyon").with_applied()
    back = gate.taking(gate.prove("acme"))
    assert back is not None
    another_image(lyon, interlock)
    engine.up(None, "acme", "globex")
    gate = Gate.open("lyon").with_applied()
    going = gate.taking(gate.prove(None))
    assert going is not None
    known = {record.stack: tuple(entry.digest for entry in record.entries) for record in engine.store.stacks()}
    newer = back.model_copy(update={"serial": 99, "known": known})
    engine.take(going)
    with pytest.raises(Outdated, match="lyon-acme uses site:Image/poplar, which lyon-site takes away"):
        engine.take(newer)
    engine.end(going)
    # The other way round: used again, then taken away by a proof that did not know.
    lyon.replace("site.yaml", "  poplar-2: &placeholder", "  poplar: &placeholder")
    lyon.replace("site.yaml", "image: poplar-2, volume_type", "image: poplar, volume_type")
    lyon.replace("tenants/acme.yaml", "image: poplar-2,", "image: poplar,")
    assert interlock("lock").code == 0
    engine.up(None, "acme")
    stale = going.model_copy(update={"serial": 99, "known": known})
    with pytest.raises(Outdated, match="lyon-site: site:Image/poplar is used by lyon-acme"):
        engine.take(stale)
    record = engine.store.stack(SITE)
    assert record is not None
    assert record.leaving == ()


def test_what_would_be_recreated_under_its_users_is_refused(
    lyon: Lyon, interlock: Interlock, engine: Engine, rollout: Rollout
) -> None:
    lyon.replace("site.yaml", "    vcpus: 112", "    vcpus: 84")
    assert interlock("lock").code == 0
    done = interlock("check", "site", "--store")
    assert done.code == 2
    place = next(
        i for i, line in enumerate(lyon.file("site.yaml").read_text().splitlines(), 1) if "poplar.half:" in line
    )
    assert f"lyon/site.yaml:{place}:" in done.err
    assert "Flavor/poplar.half would be recreated, for another vcpus, and is used by lyon-acme" in done.err
    assert rollout()["steps"][0]["refused"] != []
    # Tenants go on: one of them may have to, so that nobody uses it any more.
    assert interlock("check", "acme", "--store").code == 0
    # The twin: a field that changes in place, of the same flavour.
    lyon.replace("site.yaml", "    vcpus: 84", "    vcpus: 112")
    lyon.replace("site.yaml", "hw:numa_nodes: 4", "hw:numa_nodes: 2")
    assert interlock("lock").code == 0
    step = rollout()["steps"][0]
    assert (step["changes"], step["refused"]) == (["site:Flavor/poplar.half"], [])


def test_a_network_is_used_with_all_that_it_stands_on(
    lyon: Lyon, interlock: Interlock, engine: Engine, rollout: Rollout
) -> None:
    """Tenants name the external network; its subnet, their pool and its scope are theirs as well."""
    lyon.replace("site.yaml", "  address_scope: lyon-external\n", "")
    assert interlock("lock").code == 0
    gate = Gate.open("lyon").with_applied()
    assert {item.name for item in gate.standing.kept} == {"external-scope", "external-pool"}
    assert [(item.name, fields) for item, fields in gate.standing.recreated] == [("external-subnet", ("subnet_pool",))]
    done = interlock("check", "site", "--store")
    assert (done.code, "put it back as it was" in done.err) == (2, True)
    # No step of a tenant frees them, so they are not said to go once nobody uses them.
    (_, last) = rollout()["steps"]
    assert (last["stack"], last["goes"], last["note"]) == (SITE, [], "")
    assert last["refused"] == [
        f"site:{what} stays: site:Network/external rests on it, and stays in use by lyon-acme, lyon-globex: put it "
        "back into the site file" for what in ("AddressScope/external-scope", "SubnetPool/external-pool")
    ]  # fmt: skip


def test_another_name_of_a_scope_changes_in_place(
    lyon: Lyon, interlock: Interlock, engine: Engine, rollout: Rollout
) -> None:
    lyon.replace("site.yaml", "address_scope: lyon-external", "address_scope: lyon-outside")
    assert interlock("lock").code == 0
    assert [(step["stack"], step["changes"]) for step in rollout()["steps"]] == [
        (SITE, ["site:AddressScope/external-scope"])
    ]


def test_data_does_not_move_to_another_type(lyon: Lyon, interlock: Interlock, engine: Engine, rollout: Rollout) -> None:
    lyon.replace("site.yaml", "volume_types: [fast]", "volume_types: [faster]")
    lyon.replace("site.yaml", "volume_type: fast,", "volume_type: faster,")
    assert interlock("lock").code == 0
    refused = [step["refused"] for step in rollout()["steps"] if step["stack"] == ACME]
    assert refused == [[f"Volume acme-train-poplar-{index}-data: a retype moves the data" for index in (0, 1)]]
    engine.up(None)
    assert offered(engine.store) >= {"VolumeType/fast", "VolumeType/faster"}


def test_what_nobody_uses_goes_at_once(lyon: Lyon, interlock: Interlock, engine: Engine, rollout: Rollout) -> None:
    lyon.replace("site.yaml", "volume_types: [fast]", "volume_types: [fast, slow]")
    assert interlock("lock").code == 0
    engine.up(None)
    lyon.replace("site.yaml", "volume_types: [fast, slow]", "volume_types: [fast]")
    assert interlock("lock").code == 0
    assert [(step["stack"], step["goes"]) for step in rollout()["steps"]] == [(SITE, ["site:VolumeType/slow"])]


def test_a_stack_of_an_older_version_may_use_everything(
    lyon: Lyon, interlock: Interlock, engine: Engine, rollout: Rollout
) -> None:
    another_image(lyon, interlock)
    engine.up(None, "acme", "globex")
    _as_before(engine.store, ACME)
    found = rollout()
    assert found["kept"] == [{"object": "site:Image/poplar", "used_by": [ACME]}]
    assert (stacks(found), found["steps"][0]["note"]) == (
        [ACME, SITE], "an older version applied it: this records what it uses",
    )  # fmt: skip
    engine.up("acme", None)
    assert rollout()["steps"] == []


def test_a_tenant_whose_request_is_not_here_is_named(
    lyon: Lyon, interlock: Interlock, engine: Engine, rollout: Rollout
) -> None:
    another_image(lyon, interlock)
    for name in ("globex.yaml", "globex.lock.json"):
        lyon.file(f"tenants/{name}").unlink()
    step = next(step for step in rollout()["steps"] if step["stack"] == GLOBEX)
    assert (step["refused"], step["note"]) == (
        ["it has no request here: restore tenants/globex.yaml, or `git pull`"], "it uses site:Image/poplar",
    )  # fmt: skip


def test_the_text_numbers_the_commands(lyon: Lyon, interlock: Interlock, engine: Engine) -> None:
    another_image(lyon, interlock)
    engine.up(None, "globex")
    done = interlock("rollout")
    assert done.code == 1
    assert done.out == (
        "lyon: 2 steps left, in this order; ask again after each\n"
        "\n"
        "1. pulumi up --stack lyon-acme\n"
        "     Server acme-train-poplar-0: image site:Image/poplar → site:Image/poplar-2: replace\n"
        "     Server acme-train-poplar-1: image site:Image/poplar → site:Image/poplar-2: replace\n"
        "\n"
        "2. pulumi up --stack lyon-site\n"
        "     - site:Image/poplar\n"
        "     once nobody uses them: after the steps before it\n"
        "\n"
        "kept until then, though the site file no longer has it:\n"
        "  site:Image/poplar: used by lyon-acme\n"
    )


def test_an_old_lock_is_2(lyon: Lyon, interlock: Interlock, engine: Engine) -> None:
    lyon.replace("site.yaml", "volume_types: [fast]", "volume_types: [fast, slow]")
    done = interlock("rollout")
    assert (done.code, "`interlock lock`" in done.err) == (2, True)


def _as_before(store: Ledger, stack: str) -> None:
    """The record as a version wrote it that knew nothing of uses."""
    stored = store.store.get(f"stacks/{stack}")
    assert stored is not None
    fields = {key: value for key, value in json.loads(stored.body).items() if key not in ("uses", "offers", "leaving")}
    store.store.put_over(f"stacks/{stack}", json.dumps(fields).encode(), stored.version)
