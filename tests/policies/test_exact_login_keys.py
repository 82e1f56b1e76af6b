"""SEC-05: whose key is whose, what it opens, and all that is said of it."""

from __future__ import annotations

from functools import cache

import pytest

from interlock.planning import plan_site
from interlock.planning.plan import Plan
from interlock.vocabulary.ssh_keys import fingerprints
from policies.rules.login_keys import SEC_05
from policies.rules.rule import RuleAnswer
from tests.builders.pod64 import site_locked, ssh_key, tenant
from tests.policies.asking import answered, messages, told
from tests.policies.test_rules_login_keys import KEY, SERVERS, SITE, clean, with_key
from tests.policies.workspace import Made, changed, edited, made, with_footprint

POPLAR = [f"acme-train-poplar-{number}" for number in (0, 1)]
CONTROLLER = SERVERS[1]


def print_of(name: str) -> str:
    return fingerprints(ssh_key(name))[0]


def data(*names: str) -> str:
    return "#cloud-config\nssh_authorized_keys:\n" + "".join(f"  - {ssh_key(name)}\n" for name in names)


def with_data(server: str, *names: str) -> Plan:
    return edited(clean()[0].plan, server, user_data=data(*names))


def test_all_that_is_said_of_a_key_of_two() -> None:
    """A key pair opens the servers that are started with it; what it does not open is not shown."""
    globex = clean()[1]
    assert told(answered(SEC_05, SITE, with_key(ssh_key("globex")), globex)) == [
        "V 91: one ssh key is acme's and globex's: whoever has it logs in to the servers of both",
        f"  witness: key pair {KEY} of acme / ssh key {print_of('globex')} / a key of globex",
        f"  about: {KEY}, {', '.join(POPLAR)}, acme, globex",
    ]
    assert told(answered(SEC_05, SITE, with_data(POPLAR[1], "globex"), globex)) == [
        "V 91: one ssh key is acme's and globex's: whoever has it logs in to the servers of both",
        f"  witness: user data of {POPLAR[1]} / ssh key {print_of('globex')} / a key of globex",
        f"  about: {POPLAR[1]}, acme, globex",
    ]


def test_all_that_is_said_of_a_tenants_key_on_a_controller() -> None:
    """The tenant's own and another's; one that is nobody's is the operator's."""
    globex = clean()[1]
    assert told(answered(SEC_05, SITE, with_data(CONTROLLER, "globex"), globex)) == [
        f"V 91: one ssh key is globex's and opens {CONTROLLER} of the operator's",
        f"  witness: user data of {CONTROLLER} / ssh key {print_of('globex')}",
        f"  about: {CONTROLLER}, globex",
    ]
    own = told(answered(SEC_05, SITE, with_data(CONTROLLER, "acme"), globex))
    assert own[0] == f"V 91: one ssh key is acme's and opens {CONTROLLER} of the operator's"
    assert own[2] == f"  about: {KEY}, {CONTROLLER}, {', '.join(POPLAR)}, acme"
    assert told(answered(SEC_05, SITE, with_data(CONTROLLER, "nobody"), globex)) == []


@cache
def zeta() -> Made:
    return made(SITE, tenant("zeta", machines=4, servers=1), [item.lock for item in clean()])


def test_causes_stand_in_the_order_of_their_words() -> None:
    """A key of two, which is looked for first, after a key on a controller."""
    plan = edited(with_key(ssh_key("zeta")), CONTROLLER, user_data=data("globex"))
    assert messages(answered(SEC_05, SITE, plan, clean()[1], zeta())) == [
        "V one ssh key is acme's and zeta's: whoever has it logs in to the servers of both",
        f"V one ssh key is globex's and opens {CONTROLLER} of the operator's",
    ]
    plan = edited(with_key(ssh_key("zeta")), CONTROLLER, user_data=data("zeta"))
    assert messages(answered(SEC_05, SITE, plan, clean()[1], zeta())) == [
        f"V one ssh key is acme and zeta's and opens {CONTROLLER} of the operator's",
        "V one ssh key is acme's and zeta's: whoever has it logs in to the servers of both",
    ]


def test_the_operator_meets_the_keys_of_all() -> None:
    """Of two tenants nothing in the operator's plan has the key."""
    acme, globex = clean()
    theirs = with_footprint(SITE, with_key(ssh_key("globex")), acme.lock)
    answer = answered(SEC_05, SITE, plan_site(SITE, site_locked(SITE)), theirs, globex)
    assert told(answer) == [
        "V 91: one ssh key is acme's and globex's: whoever has it logs in to the servers of both",
        f"  witness: ssh key {print_of('globex')} / a key of globex",
        "  about: acme, globex",
    ]
    assert answer.violated[0].key == ("acme", "globex", print_of("globex"))
    assert answered(SEC_05, SITE, with_key(ssh_key("globex")), globex).violated[0].key == ("globex", print_of("globex"))


# What is not known.


def test_all_that_is_said_of_keys_that_nobody_can_read() -> None:
    fetching = "#cloud-config\nssh_import_id: [gh:eve]\n"
    plan = edited(with_key("ssh-ed25519 AAAA"), POPLAR[0], user_data=fetching)
    answer = answered(SEC_05, SITE, plan, clean()[1])
    what = "fetches ssh keys or documents from elsewhere: which ones is unknown"
    assert told(answer) == [
        f"N 60: no public ssh key can be read in key pair {KEY}, so whose it is besides is unknown",
        f"  witness: key pair {KEY}",
        f"  missing: the key in {KEY}",
        f"  about: {KEY}",
        f"N 60: the user data of {POPLAR[0]} {what}",
        f"  witness: server {POPLAR[0]} / user data: `ssh_import_id`, `#include` or a command",
        f"  missing: the keys that {POPLAR[0]} fetches",
        f"  about: {POPLAR[0]}",
    ]
    assert answer.count == 2


def undeclared(plan: Plan, *others: Made) -> RuleAnswer:
    kept = tuple(item for item in SITE.complete if item.table != "logins")
    return answered(SEC_05, changed(SITE, complete=kept), plan, *others)


def test_logins_that_nobody_listed() -> None:
    """A tenant is told of its own keys, the operator of everybody's; who has none is told nothing."""
    acme, globex = clean()
    fact = "complete.logins.default"
    lines = {
        owner: [
            f"N 20: nobody says that all ssh keys on the cloud are listed: one of {owner} may be a stranger's as well",
            f"  witness: key pairs of {owner} / a login that no file tells of / {fact}",
            f"  missing: {fact}",
            f"  about: {owner}",
        ]
        for owner in ("acme", "globex")
    }
    answer = undeclared(acme.plan, globex)
    assert told(answer) == lines["acme"]
    assert answer.count == 2
    assert told(undeclared(plan_site(SITE, site_locked(SITE)), acme, globex)) == lines["acme"] + lines["globex"]
    plan = acme.plan
    fields = {name: getattr(plan, name) for name in Plan.model_fields}
    kept = tuple(item for item in plan.resources if item.name not in (KEY, *POPLAR))
    assert told(undeclared(Plan(**(fields | {"resources": kept})), globex)) == []


@pytest.mark.parametrize("others", [0, 1])
def test_keys_are_counted(others: int) -> None:
    """Of a tenant its own."""
    acme, *rest = clean()
    assert answered(SEC_05, SITE, acme.plan, *rest[:others]).count == 1
    assert answered(SEC_05, SITE, plan_site(SITE, site_locked(SITE)), acme, *rest[:others]).count == 1 + others
