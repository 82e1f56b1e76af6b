"""The pure parts: effects of changes, classes of errors, retries, markers, the wire's values, the schema."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.provider.actuators import ACTUATORS, Target
from interlock.provider.actuators.network import PortActuator
from interlock.provider.admitted import forbidden_changes
from interlock.provider.codec import UNKNOWN, decode, encode, has_unknown
from interlock.provider.diffing import compare
from interlock.provider.errors import HINTS, Trouble, classify, is_locked
from interlock.provider.markers import CARRIERS, join, marker, owner_of, split
from interlock.provider.pools import SIZES
from interlock.provider.retry import RetryBudget, RetryPolicy, may_repeat, pause, retry_after
from interlock.provider.schema import schema
from interlock.provider.state import Declared, as_made, as_made_from, declared, in_order_of
from interlock.resources import (
    ID_OF,
    KINDS,
    BareMetalServer,
    Claims,
    Effect,
    Network,
    Port,
    Resource,
    Server,
    VipuAgent,
    VipuAllocation,
    VipuCluster,
    VipuPartition,
    VipuUser,
    Volume,
)
from interlock.vocabulary.owners import OwnerId
from tests.support.world.declared import site, tenant

MADE = sorted(kind for kind, cls in KINDS.items() if cls.HAS_ACTUATOR)

NETWORK = Network(name="n", project="t-project", network_type="vxlan", segmentation_id=7)
SERVER = Server(name="s", project="p", flavor="site:Flavor/a", image="site:Image/m", host="h", ports=("p1",))

#: What the world of these tests declares none of.
BESIDE: tuple[Resource, ...] = (
    Claims(store="", footprint="sha256:0", identities=()),
    VipuAgent(name="a", controller="c", machine="m-1", serial="1", host="10.2.1.1"),
    VipuCluster(name="k", controller="c", agents=("a",)),
    VipuAllocation(name="l", controller="c", cluster="k", machines=("m-1",)),
    VipuUser(name="u", controller="c", allocations=("l",)),
    VipuPartition(name="p", controller="c", allocation="l", ipus=4),
)


# --- tables -----------------------------------------------------------------------------------------------


def test_every_kind_that_is_made_has_an_actuator_a_carrier_and_a_pool() -> None:
    # Claims lie in the operator's store, and their operations are a module of their own.
    assert sorted([*ACTUATORS, "Claims"]) == MADE
    assert sorted(CARRIERS) == MADE
    assert all(actuator.SERVICE in SIZES for actuator in ACTUATORS.values())
    assert all(kind.writers and kind.source for kind in CARRIERS.values())


def test_every_class_of_error_says_what_to_do() -> None:
    assert set(HINTS) == set(Trouble)


# --- differences ------------------------------------------------------------------------------------------


VOLUME = Volume(name="v", project="p", size_gib=2, volume_type="site:VolumeType/t")


def _state(resource: Any, **changed: Any) -> dict[str, Any]:
    mark = marker(OwnerId("0"), "x")
    state: dict[str, Any] = resource.canonical() | {"owner": "0", "marker": mark, "broken": ""}
    return state | changed


def _diff(resource: Any, new_ids: Any = None, **olds: Any) -> dict[str, bool]:
    inputs = resource.canonical() | {"owner": "0"} | (new_ids or {})
    return dict(compare(resource.KIND, "x", _state(resource, **olds), inputs).changed)


@pytest.mark.parametrize("field", Network.model_fields)
def test_a_changed_field_has_the_effect_that_its_type_says(field: str) -> None:
    assert _diff(NETWORK, **{field: "other"}) == {field: Network.changes()[field].effect is Effect.REPLACE}


@pytest.mark.parametrize("kind", [Server, BareMetalServer])
def test_userdata_and_the_key_are_kept_as_made(kind: type[Resource]) -> None:
    # The paths of a whole host's shares stand on its config drive, which is written once.
    shares = {"shares"} if kind is BareMetalServer else set()
    assert kind.kept_as_made() == {"user_data", "keypair"} | shares


def test_changed_userdata_is_no_difference_and_another_host_beside_it_is_one() -> None:
    assert _diff(SERVER, user_data="other", keypair="other") == {}
    assert _diff(SERVER, {"id_of_keypair": UNKNOWN}, id_of_keypair="old") == {}
    assert _diff(SERVER, user_data="other", host="elsewhere") == {"host": True}


def _made_with(**olds: Any) -> Declared:
    inputs = SERVER.canonical() | {"owner": "0", "id_of_keypair": "new", "keypair": "k", "user_data": "new"}
    return as_made(declared("Server", "s", inputs), SERVER.canonical() | olds)


def test_an_update_leaves_userdata_as_it_was_recorded() -> None:
    kept = _made_with(user_data="old", keypair="k", id_of_keypair="old")
    assert (kept.spec.canonical()["user_data"], kept.ids["keypair"]) == ("old", "old")
    # One that was made without a key has none afterwards, whatever the plan says of new ones.
    without = _made_with(user_data="old", keypair=None)
    assert (without.spec.canonical()["keypair"], "keypair" in without.ids) == (None, False)


def test_a_target_that_is_not_made_yet_is_a_new_one() -> None:
    item = declared("Server", "s", SERVER.canonical() | {"owner": "0", "user_data": "new"})
    olds = SERVER.canonical() | {"user_data": "old", "resolved": {"keypair": "key", "image": "7"}}
    target = Target("s", OwnerId("0"), item.spec, {"keypair": "other", "image": "8"})
    made = as_made_from(target, item, olds)
    assert (made.spec.canonical()["user_data"], made.refs) == ("old", {"keypair": "key", "image": "7"})
    anew = as_made_from(target, item, olds, unmade=True)
    assert (anew.spec.canonical()["user_data"], anew.refs) == ("new", {"keypair": "other", "image": "7"})


def test_nothing_changed_is_no_difference() -> None:
    assert _diff(NETWORK) == {}


def test_another_object_behind_a_reference_has_the_effect_of_the_field() -> None:
    assert _diff(NETWORK, {"id_of_project": "new"}, id_of_project="old") == {"id_of_project": True}
    assert _diff(SERVER, {"id_of_ports": ["new"]}, id_of_ports=["old"]) == {"id_of_ports": False}


def test_a_server_is_not_replaced_for_a_port_that_is() -> None:
    """The engine asks with the whole input unknown, while it looks for what goes together with the port."""
    same = {"id_of_project": "7", "id_of_ports": ["old"]}
    assert _diff(SERVER, same | {"id_of_ports": UNKNOWN}, **same) == {"id_of_ports": False}
    assert _diff(SERVER, same | {"id_of_ports": [UNKNOWN]}, **same) == {"id_of_ports": False}
    assert _diff(SERVER, same | {"id_of_project": UNKNOWN}, **same) == {"id_of_project": True}


def test_another_project_behind_a_volume_replaces_it_and_deletion_has_its_own_guard() -> None:
    volume = Volume(name="v", project="p", size_gib=1, volume_type="site:VolumeType/t")
    assert _diff(volume, {"id_of_project": "new"}, id_of_project="old") == {"id_of_project": True}


@pytest.mark.parametrize("kind", [kind for kind, cls in KINDS.items() if cls.YOUNGER])
def test_a_state_of_before_a_field_changes_nothing(kind: str) -> None:
    """The field says what such an object is; no upgrade may touch it for that."""
    known = (*site("s", 700).values(), *tenant("t", 2100).values(), *BESIDE)
    younger = KINDS[kind].YOUNGER
    resource = next(item for item in known if kind == item.KIND).model_copy(update=dict(younger))
    inputs = resource.canonical() | {"owner": "0"}
    olds = _state(resource)
    before = {name: value for name, value in olds.items() if name not in younger}
    assert len(before) < len(olds)
    # Nor for the ids behind it, which such a state does not have.
    ids: dict[str, list[str]] = {f"{ID_OF}{name}": [] for name in KINDS[kind].reference_fields().keys() & younger}
    assert compare(kind, "x", before, inputs | ids).changed == {}
    assert forbidden_changes(declared(kind, "x", inputs), before) == []


def test_a_volume_may_grow_and_not_shrink() -> None:
    item = declared("Volume", "v", VOLUME.canonical() | {"owner": "0"})
    for size, told in (
        (1, []),
        (2, []),
        (3, [("size_gib", "size_gib cannot change from 3 to 2: a volume can grow, not shrink")]),
    ):
        assert forbidden_changes(item, _state(VOLUME, size_gib=size)) == told


def test_a_drifted_forbidden_field_is_no_replacement() -> None:
    assert _diff(SERVER, flavor="cloud-id:7") == {"flavor": False}


def test_what_is_broken_is_replaced_and_a_lost_marker_is_put_back() -> None:
    assert _diff(SERVER, broken="No valid host was found") == {"broken": True}
    assert _diff(SERVER, marker="") == {"marker": False}


def test_lists_that_hold_the_same_are_the_same() -> None:
    assert in_order_of(["a", "b"], ["b", "a"]) == ["a", "b"]
    assert in_order_of(["a", "b"], ["b", "c"]) == ["b", "c"]
    assert in_order_of(["a", "a"], ["a", "b"]) == ["a", "b"]


# --- errors -----------------------------------------------------------------------------------------------

NEUTRON_QUOTA = '{"NeutronError": {"type": "OverQuota", "message": "Quota exceeded for resources", "detail": ""}}'
NEUTRON_IN_USE = '{"NeutronError": {"type": "NetworkInUse", "message": "There are one or more ports", "detail": ""}}'
NEUTRON_TAKEN = '{"NeutronError": {"type": "VlanIdInUse", "message": "VLAN 7 in use on x", "detail": ""}}'


IRONIC_LOCKED = (
    '{"error_message": "{\\"faultcode\\": \\"Client\\", \\"faultstring\\": \\"Node 7 is locked by host sandbox, please '
    'retry after the current operation is completed.\\", \\"debuginfo\\": null}"}'
)


def barbican(description: str) -> str:
    """Barbican's form."""
    return json.dumps({"code": 403, "title": "Forbidden", "description": description})


def manila(kind: str, message: str) -> str:
    return json.dumps({kind: {"code": 0, "message": message}})


@pytest.mark.parametrize(
    ("service", "status", "body", "trouble"),
    [
        ("network", 409, NEUTRON_QUOTA, Trouble.QUOTA),
        ("network", 409, NEUTRON_IN_USE, Trouble.IN_USE),
        ("network", 409, NEUTRON_TAKEN, Trouble.CONFLICT),
        ("network", 409, '{"NeutronError": {"type": "Dup", "message": "m", "detail": ""}}', Trouble.CONFLICT),
        ("compute", 403, '{"forbidden": {"code": 403, "message": "Quota exceeded for cores"}}', Trouble.QUOTA),
        ("compute", 403, '{"forbidden": {"code": 403, "message": "Policy disallows"}}', Trouble.FORBIDDEN),
        ("compute", 409, '{"conflictingRequest": {"message": "Flavor x exists", "code": 409}}', Trouble.CONFLICT),
        ("key-manager", 403, barbican("Creation not allowed because a quota has been reached"), Trouble.QUOTA),
        ("key-manager", 403, barbican("Secret creation attempt not allowed"), Trouble.FORBIDDEN),
        ("block-storage", 413, '{"overLimit": {"code": 413, "message": "VolumeLimitExceeded"}}', Trouble.QUOTA),
        ("identity", 401, '{"error": {"code": 401, "message": "m", "title": "Unauthorized"}}', Trouble.UNAUTHORIZED),
        ("identity", 404, "", Trouble.NOT_FOUND),
        ("image", 410, "<html>gone</html>", Trouble.NOT_FOUND),
        ("network", 429, "", Trouble.THROTTLED),
        ("network", 400, '{"NeutronError": {"type": "T", "message": "m", "detail": ""}}', Trouble.INVALID),
        ("compute", 500, '{"computeFault": {"code": 500, "message": "m"}}', Trouble.SERVICE),
        ("compute", 503, "", Trouble.UNREACHABLE),
        ("baremetal", 409, IRONIC_LOCKED, Trouble.CONFLICT),
        ("shared-file-system", 413, manila("overLimit", "Maximum number of shares: quota exceeded"), Trouble.QUOTA),
        ("shared-file-system", 403, manila("forbidden", "Requested share exceeds allowed quota."), Trouble.QUOTA),
        ("shared-file-system", 403, manila("forbidden", "Share status must be one of available"), Trouble.IN_USE),
        ("shared-file-system", 403, manila("forbidden", "Policy does not allow it"), Trouble.FORBIDDEN),
        ("shared-file-system", 400, manila("badRequest", "Target share type is still in use."), Trouble.IN_USE),
        ("shared-file-system", 400, manila("badRequest", "Share 0-1 not found."), Trouble.NOT_FOUND),
        ("shared-file-system", 400, manila("badRequest", "Share access ip:10.0.0.0/8 exists."), Trouble.INVALID),
    ],
)  # fmt: skip
def test_answers_are_classified(service: str, status: int, body: str, trouble: Trouble) -> None:
    assert classify(service, status, body)[0] is trouble


def test_messages_are_the_services_own_words() -> None:
    assert classify("network", 409, NEUTRON_IN_USE)[1] == "There are one or more ports"
    assert classify("image", 500, "<html>\n  oops </html>")[1] == "<html> oops </html>"
    assert classify("baremetal", 409, IRONIC_LOCKED)[1].startswith("Node 7 is locked by host sandbox, please retry")
    assert classify("baremetal", 400, '{"error_message": "{no JSON"}')[1] == "{no JSON"


def test_a_node_that_ironic_is_at_work_on_is_asked_again() -> None:
    assert is_locked("baremetal", 409, IRONIC_LOCKED)
    assert not is_locked("compute", 409, IRONIC_LOCKED)
    assert not is_locked("baremetal", 409, '{"error_message": "{}"}')


# --- retries ----------------------------------------------------------------------------------------------


def test_pauses_grow_and_the_budget_ends_them() -> None:
    budget = RetryBudget(attempts=4, total=60, first=0.5, factor=2, longest=10)
    assert [pause(budget, attempt, 0.0) for attempt in (1, 2, 3, 4)] == [0.5, 1.0, 2.0, None]
    assert pause(budget, 1, 59.9) is None


def test_the_services_own_wish_to_wait_is_obeyed_within_the_budget() -> None:
    assert pause(RetryBudget(), 1, 0.0, retry_after=7) == 7
    assert pause(RetryBudget(total=5), 1, 0.0, retry_after=7) is None


def test_a_date_to_wait_for_is_held_against_the_services_own_clock() -> None:
    date = {"Date": "Fri, 01 Jan 1999 00:00:00 GMT"}
    assert retry_after(date | {"Retry-After": "Fri, 01 Jan 1999 00:00:07 GMT"}) == 7
    assert retry_after(date | {"Retry-After": "Thu, 31 Dec 1998 23:00:00 GMT"}) == 0
    assert retry_after({"Retry-After": "Fri, 01 Jan 1999 00:00:07 GMT"}) is None
    assert retry_after(date | {"Retry-After": "soon"}) is None
    assert retry_after(date | {"Retry-After": "Fri, 01 Jan 1999 00:00:07"}) is None
    assert retry_after({"Retry-After": "12"}) == 12
    assert retry_after({}) is None


def test_a_creation_is_repeated_only_if_it_never_left() -> None:
    assert may_repeat("GET", idempotent=None, refused=False)
    assert not may_repeat("POST", idempotent=None, refused=False)
    assert may_repeat("POST", idempotent=None, refused=True)
    assert not may_repeat("PUT", idempotent=False, refused=False)


class _Adapter:
    """Answers in turn; an answer is (status, headers) or an exception."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.calls = 0
        self.endpoint_override = ""

    def get_token(self) -> str:
        return "token"

    def get_endpoint_data(self) -> Any:
        from types import SimpleNamespace

        return SimpleNamespace(url="http://127.0.0.1:9/v2.0", api_version=(2, 0))

    def request(self, path: str, method: str, **options: Any) -> Any:
        self.calls += 1
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        from types import SimpleNamespace

        return SimpleNamespace(status_code=answer[0], headers=answer[1], text="", content=b"{}", json=dict)


def _api(*answers: Any) -> tuple[Any, _Adapter, list[float]]:
    from interlock.provider.calls import Api

    adapter, slept = _Adapter(*answers), list[float]()
    retry_policy = RetryPolicy(clock=lambda: sum(slept), sleep=slept.append)
    return Api(cast(Any, adapter), "network", retry_policy), adapter, slept


def test_a_read_goes_on_after_429_and_503() -> None:
    api, adapter, slept = _api((429, {"Retry-After": "3"}), (503, {}), (200, {}))
    assert api.get("/networks") == {}
    assert slept == [3.0, 1.0]
    assert adapter.calls == 3


def test_a_creation_answered_by_a_gateway_is_not_repeated() -> None:
    from interlock.provider.errors import Failure

    api, adapter, _ = _api((503, {}))
    with pytest.raises(Failure) as caught:
        api.post("/networks", {})
    assert caught.value.trouble is Trouble.LOST_ANSWER
    assert adapter.calls == 1


def test_a_creation_is_repeated_if_nobody_listened_and_lost_if_the_line_broke() -> None:
    import keystoneauth1.exceptions
    from urllib3.exceptions import NewConnectionError

    from interlock.provider.errors import Failure

    silent = keystoneauth1.exceptions.ConnectFailure("no one there")
    silent.__cause__ = NewConnectionError("pool", "refused")  # type: ignore[arg-type]
    api, adapter, _ = _api(silent, (201, {}))
    assert api.post("/networks", {}) == {}
    assert adapter.calls == 2
    api, adapter, _ = _api(keystoneauth1.exceptions.ConnectFailure("aborted"))
    with pytest.raises(Failure) as caught:
        api.post("/networks", {})
    assert caught.value.trouble is Trouble.LOST_ANSWER


# --- ports ------------------------------------------------------------------------------------------------

PORT = Port(name="p", project="t", network="n", subnet="s", address="10.0.0.9", allowed_address_pairs=("10.9.0.0/16",))
OWN = "fa:16:3e:00:00:01"


def _seen(*pairs: dict[str, str]) -> Any:
    raw = {
        "id": "7", "name": "p", "description": "", "project_id": "t", "network_id": "n", "mac_address": OWN,
        "fixed_ips": [{"ip_address": "10.0.0.9", "subnet_id": "s"}], "binding:vnic_type": "normal",
        "port_security_enabled": True, "security_groups": [], "allowed_address_pairs": list(pairs),
    }  # fmt: skip
    return PortActuator().observe(cast(Any, None), raw).fields["allowed_address_pairs"]


def test_prefixes_that_a_port_may_send_from_are_sent_and_read_back() -> None:
    target = Target("p", OwnerId("0"), PORT, {"network": "n", "subnet": "s", "security_groups": ()})
    body = PortActuator().body(cast(Any, None), target)
    assert body["allowed_address_pairs"] == [{"ip_address": "10.9.0.0/16"}]
    assert _seen({"ip_address": "10.9.0.0/16", "mac_address": OWN}) == ["10.9.0.0/16"]
    assert _seen() == []


def test_prefixes_change_in_place_and_go_away_when_none_is_wanted() -> None:
    assert _diff(PORT, allowed_address_pairs=["0.0.0.0/0"]) == {"allowed_address_pairs": False}
    none = PORT.model_copy(update={"allowed_address_pairs": ()})
    target = Target("p", OwnerId("0"), none, {"network": "n", "subnet": "s", "security_groups": ()})
    assert PortActuator().body(cast(Any, None), target)["allowed_address_pairs"] == []
    assert "allowed_address_pairs" in PortActuator.MUTABLE


def test_a_pair_with_another_ethernet_address_is_not_the_planned_one() -> None:
    foreign = {"ip_address": "10.9.0.0/16", "mac_address": "fa:16:3e:00:00:02"}
    assert _diff(PORT, allowed_address_pairs=_seen(foreign)) == {"allowed_address_pairs": False}


# --- markers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "Blue Yonder", "two\nlines", "interlock:not:all of it"])
def test_a_text_and_its_marker_come_apart_again(text: str) -> None:
    mark = marker(OwnerId("0a11ce"), "acme-net")
    assert split(join(text, mark)) == (text, mark)
    assert owner_of(mark) == "0a11ce"


@pytest.mark.parametrize("value", [None, "", "acme-net", "interlock:x", "xinterlock:a:b", "interlock:a:b c"])
def test_what_only_contains_a_marker_is_none(value: str | None) -> None:
    assert split(value) == (value or "", "")
    assert owner_of(value or "") == ""


# --- the wire ---------------------------------------------------------------------------------------------

NAMES = st.text(max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(NAMES, VALUES, max_size=3))
def test_values_come_back_as_they_were(values: dict[str, Any]) -> None:
    assert decode(encode(values)) == values


def test_whole_numbers_come_back_as_integers() -> None:
    assert repr(decode(encode({"a": 5.0, "b": [2101.0]}))) == "{'a': 5, 'b': [2101]}"


def test_unknowns_and_secrets() -> None:
    values = {"a": UNKNOWN, "b": [UNKNOWN], "c": "hidden"}
    assert decode(encode(values, frozenset({"c"}))) == values
    assert has_unknown(values["b"])
    assert not has_unknown(values["c"])


# --- the schema -------------------------------------------------------------------------------------------


def test_the_schema_lists_every_kind_with_inputs_and_outputs() -> None:
    found = json.loads(schema())
    assert (found["name"], found["version"]) == ("interlock", "0.1.0")
    assert sorted(found["resources"]) == sorted(f"interlock:index:{kind}" for kind in MADE)
    server = found["resources"]["interlock:index:Server"]
    assert server["inputProperties"]["ports"] == {
        "type": "array",
        "items": {"type": "string"},
        "description": "change: in place",
    }
    assert "change: forbidden (a resize" in server["inputProperties"]["flavor"]["description"]
    assert set(server["requiredInputs"]) <= server["inputProperties"].keys()
    key = found["resources"]["interlock:index:S3Credential"]["properties"]
    assert key["secret_key"]["secret"] is True
