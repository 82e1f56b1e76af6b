"""Who gets certificates: `access.ca`, `access.accounts`, `access.people`, and what rests on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlock.model.load import InputErrors, Workspace, load_workspace
from interlock.model.tenant.request import KeyHolder
from interlock.planning import request_hash
from tests.builders.pod64 import ssh_key, tenant
from tests.model.small_site import small_fleet

PEOPLE = f"""\
name: Acme
access:
  ca: {ssh_key("ca")}
  accounts: [ubuntu, root]
  people:
    - {{name: anne, keys: ["{ssh_key("laptop")}", "{ssh_key("desk")}"], until: 2027-01-31}}
    - {{name: bob, keys: ["{ssh_key("bob")}"], since: 2027-01-01, accounts: [ubuntu], vpods: [train]}}
vpods:
  train: {{machines: 4}}
"""


def workspace(folder: Path, **texts: str) -> Workspace:
    """The short site with these requests."""
    stacks = small_fleet(folder)
    for name, text in texts.items():
        (stacks / f"yard/tenants/{name}.yaml").write_text(text, encoding="utf-8")
    return load_workspace(stacks, "yard")


def test_people_in_full_form(tmp_path: Path) -> None:
    read = workspace(tmp_path, acme=PEOPLE)
    access = read.tenants["acme"].access
    assert (access.ca, access.ssh_public_key, access.accounts) == (ssh_key("ca"), None, ("ubuntu", "root"))
    assert access.people == (
        KeyHolder(
            name="anne", keys=(ssh_key("laptop"), ssh_key("desk")), accounts=("ubuntu", "root"), until="2027-01-31"
        ),
        KeyHolder(
            name="bob", keys=(ssh_key("bob"),), accounts=("ubuntu",), vpods=("train",), since="2027-01-01"
        ),
    )  # fmt: skip


def test_accounts_are_those_of_the_usual_image(tmp_path: Path) -> None:
    read = workspace(tmp_path, acme=PEOPLE.replace("  accounts: [ubuntu, root]\n", ""))
    assert read.tenants["acme"].access.accounts == ("ubuntu",)
    noted = [item for item in read.defaults["acme"] if item.path.startswith("access.accounts")]
    assert [(item.path, item.value) for item in noted] == [("access.accounts", "ubuntu")]


@pytest.mark.parametrize("other", ["ssh_public_key", "people"])
def test_a_persons_key_is_no_other_tenants(tmp_path: Path, other: str) -> None:
    """Whether the other has it as a person's, or as that of all its servers."""
    theirs = PEOPLE.replace(ssh_key("ca"), ssh_key("another ca")).replace(ssh_key("bob"), ssh_key("ben"))
    if other == "ssh_public_key":
        people = theirs[theirs.index("  people:") : theirs.index("vpods:\n")]
        theirs = theirs.replace(people, f"  ssh_public_key: {ssh_key('desk')}\n")
    else:
        theirs = theirs.replace(ssh_key("laptop"), ssh_key("another laptop"))
    with pytest.raises(InputErrors) as raised:
        workspace(tmp_path, acme=PEOPLE, globex=theirs)
    (error,) = raised.value.errors
    name = "acme" if other == "ssh_public_key" else "globex"
    assert str(error.position).startswith(f"stacks/yard/tenants/{name}.yaml:6:")
    assert error.code == "IN-009"
    assert error.message.startswith("this key of `anne` is one of tenant ")


def test_keys_apart_are_no_fault(tmp_path: Path) -> None:
    theirs = PEOPLE
    for name in ("ca", "laptop", "desk", "bob"):
        theirs = theirs.replace(ssh_key(name), ssh_key(f"their {name}"))
    assert set(workspace(tmp_path, acme=PEOPLE, globex=theirs).tenants) == {"acme", "globex"}


def test_a_person_makes_no_lock_old_and_an_authority_does() -> None:
    before = tenant("acme")
    access = before.access
    anne = KeyHolder(name="anne", keys=(ssh_key("laptop"),), accounts=("ubuntu",))
    with_people = before.model_copy(update={"access": access.model_copy(update={"people": (anne,)})})
    assert request_hash(with_people) == request_hash(before)
    for change in ({"ca": ssh_key("ca")}, {"accounts": ("root",)}, {"ssh_public_key": ssh_key("new")}):
        changed = before.model_copy(update={"access": access.model_copy(update=change)})
        assert request_hash(changed) != request_hash(before), change
