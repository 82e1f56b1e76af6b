"""Wrong input and a cloud that cannot do it: one message with all faults, and nothing is touched."""

from __future__ import annotations

import pytest

from tests.e2e.project import Project
from tests.e2e.victim import STACK
from tests.support.cloud.journal import Journal

#: What somebody types wrong -> what is said, with its place and what to do.
TYPED = {
    "an unknown key": ("machines: 1", "machine: 1", "initech.yaml:8:5: IN-001"),
    "twelve IPUs": ("machines: 1", "ipus: 12", "ask for 8 or 16"),
    "a size without unit": ("10GiB", "10", "initech.yaml:9"),
}


@pytest.mark.parametrize("what", TYPED)
def test_a_wrong_request_is_one_message_with_its_place(victim: Project, journal: Journal, what: str) -> None:
    right, wrong, said = TYPED[what]
    since = journal.now()
    victim.edit("lyon/tenants/initech.yaml", right, wrong)
    try:
        by_command, by_engine = victim.interlock("check", "initech"), victim.plain_up(STACK)
    finally:
        victim.edit("lyon/tenants/initech.yaml", wrong, right)
    assert by_command.code == 2
    assert said in by_command.err, by_command.text
    assert by_engine.code != 0
    assert said in by_engine.text, by_engine.text
    assert "Traceback" not in by_command.text + by_engine.text
    assert since.ours() == []


def test_a_lock_older_than_its_request_is_refused(victim: Project, journal: Journal) -> None:
    since = journal.now()
    victim.edit("lyon/tenants/initech.yaml", "servers: 1", "servers: 2")
    try:
        refused = victim.plain_up(STACK)
    finally:
        victim.edit("lyon/tenants/initech.yaml", "servers: 2", "servers: 1")
    assert "run `interlock lock initech`" in refused.text
    assert since.ours() == []


def test_the_clouds_faults_come_all_at_once_before_the_first_call(victim: Project, journal: Journal) -> None:
    """A member whom the cloud does not know, and an operator's project whose quota somebody lowered."""
    since = journal.now()
    victim.edit("lyon/tenants/initech.yaml", "members: [bob]", "members: [bob, nobody]")
    victim.must(victim.interlock("lock", "initech"))
    try:
        refused, shown = victim.plain_up(STACK), victim.pulumi("preview", STACK)
        asked, proved = victim.interlock("preflight", "initech"), victim.interlock("check", "initech", "--store")
    finally:
        victim.edit("lyon/tenants/initech.yaml", "members: [bob, nobody]", "members: [bob]")
        victim.must(victim.interlock("lock", "initech"))
    assert "nobody" in refused.text
    assert "before the first call" in refused.text
    assert shown.code != 0, "a preview says what an `up` refuses"
    assert "nobody" in shown.text
    assert (asked.code, proved.code) == (4, 4)
    assert "nobody" in asked.out
    assert "lyon-initech: cloud:User/nobody" in proved.err
    assert since.ours() == []


def test_an_unreachable_cloud_is_said_in_one_sentence(victim: Project, journal: Journal) -> None:
    since = journal.now()
    elsewhere = victim.folder / "elsewhere.yaml"
    text = victim.clouds_yaml.read_text()
    port = text.split("127.0.0.1:")[1].split("/")[0].split('"')[0]
    elsewhere.write_text(text.replace(f"127.0.0.1:{port}", "127.0.0.1:9"))
    refused = victim.with_environment(OS_CLIENT_CONFIG_FILE=str(elsewhere)).plain_up(STACK)
    assert "not looked at: cloud 'sandbox': " in refused.text, "the preview says that nobody looked"
    assert "cannot be reached" in refused.text
    assert "Traceback" not in refused.text
    assert since.ours() == []
