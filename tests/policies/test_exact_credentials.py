"""SEC-04 and SEC-12: on which line a credential is told, how often, and whose account a key is for."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest

from policies.facts.data import CredentialFact, ServiceUserFact
from policies.facts.kinds import PlanFacts, VPodFact
from policies.facts.plan import plan_facts
from policies.facts.user_data import contents
from policies.rules.credentials import SEC_04, SEC_12, credentials_in
from tests.policies.one_rule import Said, findings, of_facts, said
from tests.policies.test_rules_sec import SERVER, SITE, clean
from tests.policies.workspace import V, edited

SECRET = "password: hunter2hunter2"


def packed(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


PACKED = packed(SECRET)


@pytest.mark.parametrize(
    ("document", "places"),
    [
        (SECRET, ["line 1"]),
        # The same twice in plain text: both have to go.
        (f"{SECRET}\n{SECRET}", ["line 1", "line 2"]),
        (f"x: y\n{SECRET}\n\npassword: another1", ["line 2", "line 4"]),
        (f"\n{SECRET}", ["line 2"]),
        # In any case, and at the beginning of any line.
        ("x: y\nPassWord: hunter2", ["line 2"]),
        # What is packed is told by the line where it begins, and once, however often it is there.
        (PACKED, ["line 1, in base64"]),
        (f"a: b\n{PACKED}\n", ["line 2, in base64"]),
        (f"a\n\n{packed('x: y')}\n\n{packed(f'x: y{chr(10)}{SECRET}')}", ["line 5, in base64"]),
        (f"{packed(SECRET + chr(10) + 'q')} \n\n{packed('q: r' + chr(10) + SECRET)}", ["line 1, in base64"]),
        # What stands there in plain text is told by that alone.
        (f"{SECRET}\nx: {PACKED}", ["line 1"]),
        (f"{PACKED}x\n{SECRET}", ["line 2"]),
    ],
)
def test_where_credentials_are_told(document: str, places: list[str]) -> None:
    assert [item.place for item in credentials_in(contents(document))] == places


def test_what_is_said_of_a_credential() -> None:
    found = findings(SEC_04, SITE, edited(clean()[0].plan, SERVER, user_data=f"#cloud-config\nx: {PACKED}\n"))
    expected = Said(
        V,
        f"the user data of {SERVER} holds a password (line 2, in base64)",
        (f"server {SERVER}", "user data, line 2, in base64", "password (cloud-init, users; keystoneauth)"),
        (),
        80,
    )
    assert found == [expected]


# SEC-12.

FACTS: PlanFacts = plan_facts(clean()[0].plan)


def accounts(vpods: tuple[str, ...], keys: dict[str, str], belongs: dict[str, str | None]) -> PlanFacts:
    """These vPODs, keys (key -> its user) and what belongs to which vPOD; what ends in `-user` is a user."""
    return replace(
        FACTS,
        vpods=tuple(VPodFact(name, ()) for name in vpods),
        users=tuple(ServiceUserFact(name, "acme") for name in belongs if name.endswith("-user")),
        credentials=tuple(CredentialFact(name, "acme", user) for name, user in keys.items()),
        access=replace(FACTS.access, vpods=tuple(belongs.items())),
    )


NO_ACCOUNT = "has no S3 account of its own, so its servers use another's key"
#: Each of two vPODs has a user and a key.
BOTH: dict[str, str | None] = {"a-user": "a", "a-key": "a", "b-user": "b", "b-key": "b"}


@pytest.mark.parametrize(
    ("vpods", "keys", "belongs", "expected"),
    [
        (("a", "b"), {"a-key": "a-user", "b-key": "b-user"}, BOTH, []),
        (("a", "b"), {"a-key": "a-user"}, BOTH, [("vPOD b " + NO_ACCOUNT, ("vPOD b", "no service user with a key"))]),
        (
            ("a", "b"),
            {"a-key": "a-user", "b-key": "a-user"},
            BOTH,
            [
                ("vPOD b " + NO_ACCOUNT, ("vPOD b", "no service user with a key")),
                ("key b-key is for a-user, the account of vPOD a", ("key b-key", "user a-user", "vPOD a")),
            ],
        ),
        # A key of no vPOD, for the account of one.
        (
            ("a",),
            {"a-key": "a-user", "spare": "a-user"},
            BOTH,
            [("key spare is for a-user, the account of vPOD a", ("key spare", "user a-user", "vPOD a"))],
        ),
        # One for a user of whom the plan does not tell to which vPOD it belongs.
        (("a",), {"a-key": "a-user", "spare": "somebody"}, BOTH, []),
        ((), {}, {}, []),
    ],
)
def test_accounts_of_vpods(
    vpods: tuple[str, ...],
    keys: dict[str, str],
    belongs: dict[str, str | None],
    expected: list[tuple[str, tuple[str, ...]]],
) -> None:
    found = of_facts(SEC_12, SITE, accounts(vpods, keys, belongs))
    assert said(found) == [Said(V, message, witness, (), 34) for message, witness in expected]
    assert found.count == len(vpods) + len(keys)
