"""Values as people write them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import PydanticCustomError

from interlock.model.evidence.values import age
from interlock.model.rack.values import kilograms, watts
from interlock.model.site.switch_file import vrf_name
from interlock.model.site.switch_ports import PortFile, port_setting, private_role, settings_by_port, wire_id
from interlock.model.site.values import height, partition_keys
from interlock.model.tenant.values import amount, day
from interlock.model.tenant.vpod_sizes import size_fault
from interlock.model.text.names import (
    device_name,
    device_names,
    display_names,
    part_name,
    site_name,
    tenant_name,
    user_name,
)
from interlock.model.text.values import (
    address,
    disk_gib,
    gib,
    memory_gib,
    names,
    prefix,
    public_key,
    ranges,
    vlan_ranges,
    vni_ranges,
)

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIK5LwnoymeFtwg6PSrWsUi6uqNZWKXtREdKhjcgSHCzs"


@pytest.mark.parametrize(("text", "size"), [("100GiB", 100), ("2TiB", 2048), ("4096MiB", 4), ("0GiB", 0)])
def test_sizes(text: str, size: int) -> None:
    assert gib(text) == size


def test_the_largest_size_is_what_cinder_can_count() -> None:
    assert gib("2147483647GiB") == 2**31 - 1
    for text in ("2147483648GiB", "1000000000000000000000000TiB"):
        with pytest.raises(PydanticCustomError, match="is more than 2147483647GiB"):
            gib(text)


@pytest.mark.parametrize(
    ("read", "most", "who"),
    [(gib, 2**31 - 1, "Cinder"), (disk_gib, 2**31 - 1, "Nova"), (memory_gib, 2**21 - 1, "Nova")],
)
def test_a_size_that_is_too_large_names_the_service_that_counts_it(
    read: Callable[[Any], int], most: int, who: str
) -> None:
    """Cinder and Manila were named for memory, too; Nova counts that in MiB, and its limit is a 1024th."""
    assert read(f"{most}GiB") == most
    with pytest.raises(PydanticCustomError) as raised:
        read(f"{most + 1}GiB")
    assert (raised.value.context or {})["text"] == f"`{most + 1}GiB` is more than {most}GiB"
    assert (raised.value.context or {})["hint"].startswith(who)


def test_what_is_wrong_with_a_range_of_names_is_told() -> None:
    with pytest.raises(PydanticCustomError, match="is a range of more than 4096 names"):
        names("X-[00000001-99999999]")
    with pytest.raises(PydanticCustomError, match="is no range of names"):
        names("m-[11-08]")
    assert len(names("m-[0001-4096]")) == 4096


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (gib, "1٠0GiB"), (ranges, "١٠"), (vlan_ranges, "1000-١٠٠٥"), (vni_ranges, "１００００"), (names, "m-[٠1-٠2]"),
        (amount, "５000"), (day, "٢٠٢٧-01-31"), (wire_id, "١٠"), (port_setting, "access ١٠"),
        (port_setting, "trunk ١٠,20"), (port_setting, "trunk 20 native ١٠"), (watts, "١kW"), (kilograms, "١٠kg"),
        (age, "٩0d"), (partition_keys, "٢"), (height, "١U"),
    ],
)  # fmt: skip
def test_digits_of_other_scripts_are_no_numbers(parse: Callable[[Any], Any], text: str) -> None:
    assert _is_refused(parse, text)
    assert not _is_refused(parse, "".join(str(int(char)) if char.isdecimal() else char for char in text))


def _is_refused(parse: Callable[[Any], Any], text: str) -> bool:
    try:
        return bool(parse(text) == [text])
    except PydanticCustomError:
        return True


def test_numbers_of_more_digits_than_python_reads_are_too_large() -> None:
    digits = "9" * 5000
    with pytest.raises(PydanticCustomError, match="is more than 2147483647GiB"):
        gib(f"{digits}TiB")
    with pytest.raises(PydanticCustomError, match="is a range of more than 4096 names"):
        names(f"m-[1-{digits}]")
    for read in (vlan_ranges, vni_ranges):
        with pytest.raises(PydanticCustomError, match="no id is above 2147483647"):
            read(f"1-{digits}")
    for weigh, text in ((kilograms, f"{digits}kg"), (watts, f"{digits}kW")):
        with pytest.raises(PydanticCustomError, match="is more than 1000000000"):
            weigh(text)


@pytest.mark.parametrize(("read", "text"), [(prefix, "2001:db8::/32"), (address, "2001:db8::1"), (prefix, "::/0")])
def test_ipv6_is_told_as_such(read: Callable[[str], object], text: str) -> None:
    with pytest.raises(PydanticCustomError) as refused:
        read(text)
    assert "IPv6 is not supported here yet" in str((refused.value.context or {})["hint"])


def test_ranges_of_names() -> None:
    assert names("m-[08-11]") == ["m-08", "m-09", "m-10", "m-11"]
    assert names(["a", "b-[1-2].x"]) == ["a", "b-1.x", "b-2.x"]


@given(st.lists(st.tuples(st.integers(1, 4094), st.integers(1, 4094)).map(sorted), min_size=1, max_size=5))
def test_ranges_come_back_from_their_text(pairs: list[list[int]]) -> None:
    wanted = tuple((first, last) for first, last in pairs)
    assert ranges([f"{first}-{last}" for first, last in pairs]) == wanted
    assert vlan_ranges(",".join(f"{first}-{last}" for first, last in pairs)) == wanted


@pytest.mark.parametrize(
    ("text", "mode", "untagged", "tagged"),
    [
        ("disabled", "disabled", None, ()),
        ("access", "access", None, ()),
        ("access 12", "access", 12, ()),
        ("trunk 110-199", "trunk", None, ((110, 199),)),
        ("trunk 110-149,160 native 7", "trunk", 7, ((110, 149), (160, 160))),
        ("trunk all", "trunk", None, None),
        ("dot1q-tunnel", "dot1q-tunnel", None, ()),
        ("dot1q-tunnel 12", "dot1q-tunnel", 12, ()),
    ],
)
def test_switch_ports(text: str, mode: str, untagged: int | None, tagged: Any) -> None:
    found = port_setting(text)
    assert (found.mode, found.untagged, found.tagged) == (mode, untagged, tagged)


def test_a_number_overrides_a_block_whatever_the_order() -> None:
    table = {key: PortFile.model_validate({"mode": mode}) for key, mode in (("3", "access 5"), ("machines", "access"))}
    found = settings_by_port(table, {"machines": (1, 4)}, 5)
    assert [(port.port, port.mode, port.untagged) for port in found] == [
        (1, "access", None), (2, "access", None), (3, "access", 5), (4, "access", None),
        (5, "disabled", None),
    ]  # fmt: skip


@given(st.integers(-5, 70000))
def test_sizes_of_vpods_are_powers_of_two(count: int) -> None:
    assert (size_fault(count, ipus=False) is None) == _one_bit(count)
    assert (size_fault(count, ipus=True) is None) == (count % 4 == 0 and _one_bit(count // 4))


def _one_bit(count: int) -> bool:
    return count > 0 and count.bit_count() == 1


@pytest.mark.parametrize(
    ("check", "bad"),
    [
        (
            tenant_name,
            ["site", "any", "op", "Acme", "a_b", "a--b", "-a", "a-", "1a", "", "a" * 21, "a;b", "a\n", None, 7],
        ),
        (part_name, ["key", "member-x", "a/b"]),
        (site_name, ["my-site", "Lyon", "a.b"]),
        (device_name, ["Ipum", "a b", "../x"]),
        (user_name, ["@operator", "a b", "$(id)", ".x"]),
        (prefix, ["10.0.0.1/8", "::/0", "10.0.0.0/33", 10]),
        (
            public_key,
            ["", KEY.replace("ed25519", "rsa"), f"{KEY} a\n{KEY} b", KEY[:30], 'command="id" ' + KEY],
        ),
        (gib, ["100", "100GB", 100, "100gib", "1.5GiB", "-1GiB", None, True]),
        (vlan_ranges, ["0-5", "4095", "9-8", "a", ""]),
        (port_setting, ["trunk", "access all", "trunk 5000", "up", "dot1q-tunnel all"]),
        (wire_id, [0, "4095", "1-2", "1,2", "a", None]),
        (private_role, ["promiscuous", "community", "Batch", 12, None]),
        (vrf_name, ["default", "a b", 7]),
        (names, ["m-[5-1]", "m-[1-99999]", [1], {}]),
    ],
)
def test_what_is_refused(check: Callable[[Any], Any], bad: list[Any]) -> None:
    for value in bad:
        with pytest.raises(PydanticCustomError):
            check(value)


def test_a_key_may_have_a_comment() -> None:
    assert public_key(f"{KEY} anne at home\n") == f"{KEY} anne at home"


def test_names_of_the_cloud_may_be_ranges_as_those_of_devices() -> None:
    """`of:` of one table took a range, and of another the same text was a name."""
    assert display_names("fabric-[1-3]") == device_names("fabric-[1-3]") == ["fabric-1", "fabric-2", "fabric-3"]
    assert display_names(["vxlan", "mgmt[1-2]g"]) == ["vxlan", "mgmt1g", "mgmt2g"]
    with pytest.raises(PydanticCustomError):
        display_names([7])
