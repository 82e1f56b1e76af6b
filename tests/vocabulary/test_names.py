"""What the cloud, the engine, files and grants call things, as values: what is written is read back."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.provider.markers import join, marker
from interlock.provider.registers import REGISTERS, marker_of
from interlock.vocabulary import (
    ClaimsId,
    CloudFingerprint,
    CloudId,
    ExistingObject,
    Person,
    Position,
    RoutingInstance,
    nodes,
    principals,
)
from interlock.vocabulary.digests import Digest
from interlock.vocabulary.entries import SpecEntry, of_lock, of_resource, of_site
from interlock.vocabulary.markers import KeypairName, Marker
from interlock.vocabulary.owners import OwnerId
from interlock.vocabulary.pair_ids import AttachmentId, BucketId, CredentialId, FlavorAccessId, RoleAssignmentId
from interlock.vocabulary.principals import (
    UNRESOLVED,
    Everybody,
    KeypairLogin,
    Principal,
    S3Key,
    Thing,
    User,
    is_unresolved,
)
from interlock.vocabulary.request_parts import RequestPart
from interlock.vocabulary.urns import TypeModule, TypeToken, Urn
from policies.facts.principals import acting, kind_and_name

tenants = st.from_regex(r"[a-z][a-z0-9]{0,5}(-[a-z0-9]{1,4}){0,2}", fullmatch=True)
words = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9._@-]{0,8}[A-Za-z0-9])?", fullmatch=True)


# What the cloud, the engine and the store call things.


@given(words, words, words)
def test_ids_of_several_ids_are_read_back(one: str, two: str, three: str) -> None:
    for value in (FlavorAccessId(one, two), CredentialId(one, two), BucketId(one, two), AttachmentId(one, two)):
        assert str(value) == f"{one}/{two}"
        assert type(value).parse(f"{one}/{two}") == value
    assert RoleAssignmentId.parse(f"{one}/{two}/{three}") == RoleAssignmentId(one, two, three)
    assert str(RoleAssignmentId(one, two, three)) == f"{one}/{two}/{three}"


@pytest.mark.parametrize("kind", [FlavorAccessId, CredentialId, BucketId, AttachmentId, RoleAssignmentId])
@pytest.mark.parametrize("text", ["", "one", "one/two/three/four"])
def test_other_texts_are_no_ids_of_several(kind: type[FlavorAccessId], text: str) -> None:
    with pytest.raises(ValueError, match=r"is not \w+(/\w+)+$"):
        kind.parse(text)


@given(words)
def test_entries_of_a_specification_are_read_back(name: str) -> None:
    for kind, entry in {"lock": of_lock(name), "resource": of_resource(name), "site": of_site(name)}.items():
        assert str(entry) == f"{kind}:{name}"
        assert SpecEntry.parse(str(entry)) == entry


@pytest.mark.parametrize("text", ["", "lock", "plan:a"])
def test_other_texts_are_no_entries(text: str) -> None:
    with pytest.raises(ValueError, match="is n"):
        SpecEntry.parse(text)


@given(words, words, st.just("") | words)
def test_a_marker_is_read_back_from_what_carries_it(owner: str, name: str, text: str) -> None:
    mark = Marker(OwnerId(owner), name)
    assert str(mark) == f"interlock:{owner}:{name}" == marker(OwnerId(owner), name)
    assert Marker.parse(str(mark)) == mark
    assert Marker.carried_by(join(text, str(mark))) == (text, mark)
    assert Marker.named(f"somebody's {mark}") is None


@pytest.mark.parametrize("text", ["", "interlock:", "interlock:a", "interlock:a:b:c", "interlock:a:b c", "other:a:b"])
def test_other_texts_are_no_markers(text: str) -> None:
    assert Marker.carried_by(text) == (text, None)
    with pytest.raises(ValueError, match="is no marker"):
        Marker.parse(text)


def test_a_key_pair_is_called_by_its_owner() -> None:
    assert KeypairName.parse("acme-key-0a11ce") == KeypairName("acme-key", OwnerId("0a11ce"))
    assert str(KeypairName("acme-key", OwnerId("0a11ce"))) == "acme-key-0a11ce"
    assert KeypairName.parse("laptop").name == ""


@pytest.mark.parametrize("name", ["my interlock:0a11ce:acme-key-x", "my key-x", "laptop", ""])
def test_the_name_of_a_strangers_key_pair_is_no_marker(name: str) -> None:
    register = next(item for item in REGISTERS if item.kind == "Keypair")
    item = {"keypair": {"name": name}, "name": name}
    assert marker_of(item, register) == ""


@given(tenants, words, words)
def test_a_urn_is_read_back(tenant: str, kind: str, name: str) -> None:
    token = TypeToken.object(kind)
    urn = Urn(f"lyon-{tenant}", "clusters", f"{TypeToken.component('Tenant')}${token}", f"{name}::{name}")
    assert Urn.parse(str(urn)) == urn
    assert (urn.token, urn.kind) == (token, kind)
    assert TypeToken.kind_of(token) == kind


def test_types_of_ours_and_of_others() -> None:
    assert TypeToken.object("Port") == "interlock:index:Port"
    assert TypeToken.component("Tenant") == "interlock:components:Tenant"
    assert TypeToken.named("interlock:components:Tenant") == TypeToken(TypeModule.COMPONENTS, "Tenant")
    assert TypeToken.kind_of("interlock:components:Tenant") == ""
    for other in ("pulumi:pulumi:Stack", "interlock:index:", "interlock:other:Port", "xinterlock:index:Port", ""):
        assert TypeToken.named(other) is None


@pytest.mark.parametrize("text", ["", "urn:pulumi:lyon-acme::clusters::x", "lyon-acme::clusters::x::y"])
def test_other_texts_are_no_urns(text: str) -> None:
    with pytest.raises(ValueError, match="is no URN"):
        Urn.parse(text)


@given(st.binary())
def test_a_digest_is_read_back(data: bytes) -> None:
    digest = Digest.of(data)
    assert str(digest) == "sha256:" + hashlib.sha256(data).hexdigest()
    assert Digest.parse(str(digest)) == digest


@pytest.mark.parametrize("text", ["", "sha256:", "sha256:0", "0" * 64, f"sha256:{'G' * 64}", f"sha256:{'0' * 64}\n"])
def test_other_texts_are_no_digests(text: str) -> None:
    assert Digest.named(text) is None
    with pytest.raises(ValueError, match="is no digest"):
        Digest.parse(text)


@given(tenants, words)
def test_the_id_of_claims_is_read_back(tenant: str, version: str) -> None:
    held = ClaimsId(f"lyon-{tenant}", version)
    assert str(held) == f"lyon-{tenant}@{version}"
    assert ClaimsId.parse(f"lyon-{tenant}@sha256:{version}") == ClaimsId(held.stack, f"sha256:{version}")


def test_the_fingerprint_of_a_cloud_is_read_back() -> None:
    assert CloudFingerprint.parse(str(CloudFingerprint("5eed"))) == CloudFingerprint("5eed")
    assert [CloudFingerprint.recorded(text) for text in (None, "", "5eed")] == [None, None, CloudFingerprint("5eed")]
    with pytest.raises(ValueError, match="fingerprint of no cloud"):
        CloudFingerprint.parse("")


def test_what_stands_in_a_field_by_its_id() -> None:
    assert str(CloudId("5eed")) == "cloud-id:5eed"
    assert CloudId.parse("cloud-id:5eed") == CloudId("5eed")
    assert [CloudId.named(value) for value in ("acme-net", "cloud:Role/admin", None, 5)] == [None] * 4
    with pytest.raises(ValueError, match="names nothing by its id"):
        CloudId.parse("5eed")


@given(words, words)
def test_an_existing_object_is_read_back(kind: str, name: str) -> None:
    assert ExistingObject.parse(f"{kind}/{name}") == ExistingObject(kind, name)
    assert str(ExistingObject(kind, name)) == f"{kind}/{name}"


@pytest.mark.parametrize("text", ["", "poplar", "/poplar", "Image/"])
def test_other_texts_are_no_existing_objects(text: str) -> None:
    with pytest.raises(ValueError, match="is no object"):
        ExistingObject.parse(text)


# Places and routing instances.


@given(st.text(), st.integers(1, 10**6), st.integers(1, 10**4))
def test_a_position_is_read_back(file: str, line: int, column: int) -> None:
    assert Position.parse(str(Position(file, line, column))) == Position(file, line, column)


@pytest.mark.parametrize("text", ["site.yaml", "site.yaml:1", "site.yaml:a:1", "site.yaml:1:", ""])
def test_a_file_without_lines_counts_as_its_first(text: str) -> None:
    assert Position.named(text) is None
    assert Position.parse(text) == Position(text, 1, 1)


def test_routing_instances_are_read_back() -> None:
    for instance in (RoutingInstance("tor-1"), RoutingInstance("tor-1", "storage")):
        assert RoutingInstance.parse(str(instance)) == instance
    assert str(RoutingInstance("tor-1", "storage")) == "tor-1/storage"


# Principals and objects.


@given(st.text(), st.text())
def test_a_principal_or_object_is_read_back(owner: str, name: str) -> None:
    values = (
        Principal(owner),
        User(owner, name),
        S3Key(owner, name),
        KeypairLogin(owner, name),
        Thing("share", owner, name),
    )
    for value in (Everybody(), *values):
        assert principals.parse(str(value)) == value
        assert principals.is_principal_or_object(str(value))
        assert isinstance(value, Everybody | Principal) or is_unresolved(str(value)) is (owner == UNRESOLVED)


def test_principals_and_objects_as_locks_have_them() -> None:
    assert str(Everybody()) == "prin:*" != str(Principal("*"))
    assert str(User("cloud", "alice")) == "user:cloud/alice"
    assert str(Thing("bucket", UNRESOLVED, "a/b?")) == "obj:bucket/?/a%2Fb%3F"
    assert kind_and_name("obj:server/acme/acme-train-poplar-0") == ("server", "acme-train-poplar-0")
    assert (acting("prin:acme"), acting("prin:*"), acting("user:acme/x")) == ("acme", None, None)


@pytest.mark.parametrize("text", ["", "prin", "prin:a/b", "user:acme", "obj:server/acme", "user:a/b/c", "L:s:1"])
def test_other_texts_are_no_principals(text: str) -> None:
    assert principals.parse(text) is None
    assert kind_and_name(text) == ("", text)


@given(st.text(), st.text(), st.integers(0, 4095))
def test_bridges_are_part_of_a_vlan(serial: str, interface: str, number: int) -> None:
    switch = nodes.VlanNode(str(nodes.SwitchBridge(serial)), number)
    host = nodes.VlanNode(str(nodes.HostBridge(serial, interface)), number)
    assert (switch.is_of_host, host.is_of_host) == (False, True)
    assert [nodes.parse(str(one)) for one in (switch, host)] == [switch, host]


@given(tenants, words)
def test_parts_of_a_request_are_read_back(tenant: str, name: str) -> None:
    part = RequestPart(tenant, name)
    assert RequestPart.parse(tenant, str(part)) == part
    assert part.below(f"{part}-volume") == "volume"
    assert part.below(f"{part}-partition-p", "-partition-") == "p"


@pytest.mark.parametrize("text", ["acme", "acme-", "acmes-train", ""])
def test_other_names_are_no_parts(text: str) -> None:
    with pytest.raises(ValueError, match="is no part of acme"):
        RequestPart.parse("acme", text)


@pytest.mark.parametrize(
    ("text", "domain", "person"),
    [
        ("alice", "default", Person("alice")),
        ("alice", "ops", Person("alice", "ops")),
        ("alice@Default", "ops", Person("alice")),
        ("anne@acme.example@default", "ops", Person("anne@acme.example")),
        ("anne@acme.example", "ops", Person("anne", "acme.example")),
    ],
)
def test_a_person_has_one_text(text: str, domain: str, person: Person) -> None:
    found = Person.parse(text, domain)
    assert found == person
    assert Person.parse(str(found)) == found
    assert Person.parse(str(found), domain="another" if "@" in str(found) else "default") == found


@pytest.mark.parametrize("text", ["", "@ops", "alice@"])
def test_what_names_no_person(text: str) -> None:
    with pytest.raises(ValueError, match="names no person"):
        Person.parse(text)
