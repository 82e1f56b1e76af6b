"""Locks of format 1, as the first version wrote them, made into the present format."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from interlock.model.load import load_workspace
from interlock.model.lock.formats import from_format_1, hash_of_format_1, load_any_lock
from interlock.model.lock.record import FORMAT, Lock, SiteLock
from interlock.model.site.inventory import PhysicalNetwork, VlanPool
from interlock.model.text.errors import InputErrors
from interlock.planning.claims import claimed_values
from interlock.vocabulary import Vlan
from tests.builders.pod64 import MACHINES, pod64, pools, tor
from tests.model.small_site import small_fleet

FORMATS = Path(__file__).parent / "formats"
#: The site of the examples has the names of this one.
SITE = pod64()
NEW_FIELDS = {"ipu_data_network", "storage_network", "management_network"}


def document(name: str) -> dict[str, Any]:
    """The committed example `formats/<name>-1.lock.json`."""
    found: dict[str, Any] = json.loads((FORMATS / f"{name}-1.lock.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture
def lock_file(tmp_path: Path) -> Path:
    """A copy of acme's lock of format 1, under the name that it had."""
    return Path(shutil.copy(FORMATS / "acme-1.lock.json", tmp_path / "acme.lock.json"))


def test_the_examples_are_whole() -> None:
    for name in ("acme", "site"):
        assert document(name)["format"] == 1
        assert hash_of_format_1(document(name)) == document(name)["hash"]


def test_no_claim_changes_and_the_networks_are_added(lock_file: Path) -> None:
    old = document("acme")
    lock, converted = load_any_lock(lock_file, "acme.lock.json", Lock, SITE)
    assert converted
    assert lock.hash == lock.expected_hash()
    new = lock.model_dump(mode="json")
    for name, vpod in old["allocation"]["vpods"].items():
        assert {key: new["allocation"]["vpods"][name][key] for key in vpod} == vpod
        added = {
            key for key, value in new["allocation"]["vpods"][name].items() if key not in vpod and value is not None
        }
        assert added == NEW_FIELDS
    vpod = lock.allocation.vpods["train"]
    assert (vpod.ipu_data_network, vpod.storage_network, vpod.management_network) == (
        "fabric100g", "fabric100g", "mgmt1g",
    )  # fmt: skip
    same = ("id", "owner", "request", "site", "footprint")
    assert {key: new[key] for key in same} == {key: old[key] for key in same}
    assert (new["format"], new["serial"]) == (FORMAT, old["serial"] + 1)


def test_the_conversion_is_pure() -> None:
    old = document("acme")
    from_format_1(old, SITE)
    assert old == document("acme")


def test_a_lock_of_the_site(tmp_path: Path) -> None:
    file = Path(shutil.copy(FORMATS / "site-1.lock.json", tmp_path / "site.lock.json"))
    lock, converted = load_any_lock(file, "site.lock.json", SiteLock, SITE)
    old = document("site")
    assert converted
    assert (lock.owner, lock.serial, lock.site) == (old["owner"], old["serial"] + 1, old["site"])


def test_released_vlans_say_on_which_network() -> None:
    old = document("acme") | {
        "released": [
            {"vpod": "train", "claim": "storage_vlan", "value": "2001"},
            {"vpod": "gone", "claim": "management_vlan", "value": "111"},
            {"vpod": "gone", "claim": "machines", "value": "ipum-09"},
        ]
    }
    lock = Lock.model_validate(from_format_1(old, SITE))
    assert [entry.value for entry in lock.released] == ["fabric100g:2001", "mgmt1g:111", "ipum-09"]
    vlans = [value for claim, value in claimed_values(lock.allocation.vpods["train"]) if claim.endswith("_vlan")]
    assert [Vlan.parse(value) for value in vlans] == [("fabric100g", 1000), ("fabric100g", 2000), ("mgmt1g", 110)]


def test_the_network_is_the_one_that_the_machines_are_cabled_to() -> None:
    far = tor().model_copy(update={"name": "tor-0", "serial": "SN-tor-0"})
    site = pod64(
        switches=(far, *SITE.switches),
        physical_networks=(PhysicalNetwork(name="fabric0", switches=("tor-0",)), *SITE.physical_networks),
        pools=pools(ipu_data=VlanPool(physical_networks=("fabric0", "fabric100g"), vlans=((1000, 1999),))),
    )
    assert MACHINES[0] in document("acme")["allocation"]["vpods"]["train"]["machines"]
    lock = Lock.model_validate(from_format_1(document("acme"), site))
    assert lock.allocation.vpods["train"].ipu_data_network == "fabric100g"


def test_one_edited_by_hand_is_refused(lock_file: Path) -> None:
    text = lock_file.read_text(encoding="utf-8")
    lock_file.write_text(text.replace('"ipu_data_vlan": 1000', '"ipu_data_vlan": 1001'), encoding="utf-8")
    with pytest.raises(InputErrors, match=r"acme\.lock\.json:\d+:11: IN-033 edited by hand: its hash does not fit"):
        load_any_lock(lock_file, "acme.lock.json", Lock, SITE)


def test_one_under_another_name_is_refused(lock_file: Path) -> None:
    copy = Path(shutil.copy(lock_file, lock_file.with_name("globex.lock.json")))
    with pytest.raises(InputErrors, match="a lock of `acme` under the name of `globex`"):
        load_any_lock(copy, "globex.lock.json", Lock, SITE)


def test_every_other_command_says_what_to_do(tmp_path: Path) -> None:
    stacks = small_fleet(tmp_path)
    shutil.copy(FORMATS / "acme-1.lock.json", stacks / "yard/tenants/acme.lock.json")
    with pytest.raises(InputErrors, match=r"IN-034 .*\n  hint: run `interlock lock --upgrade`"):
        load_workspace(stacks, "yard")
