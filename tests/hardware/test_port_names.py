"""What switches call their ports: the numbers of a site file and the names that a switch answers with."""

from __future__ import annotations

import pytest

from interlock.hardware import SWITCHES


@pytest.mark.parametrize(
    ("model", "number", "name"),
    [
        ("arista-7060x", 1, "Ethernet1/1"),
        ("arista-7060x", 32, "Ethernet32/1"),
        ("arista-7060x", 33, "Ethernet33"),
        ("arista-7060x", 34, "Ethernet34"),
        ("arista-7010t", 1, "Ethernet1"),
        ("arista-7010t", 52, "Ethernet52"),
        ("arista-7060px4", 32, "Ethernet32/1"),
        ("arista-7060px4", 34, "Ethernet34"),
    ],
)
def test_a_port_has_the_makers_name(model: str, number: int, name: str) -> None:
    assert SWITCHES[model].default_port_name(number) == name
    assert SWITCHES[model].port_number(name) == number


@pytest.mark.parametrize("model", SWITCHES)
def test_no_two_ports_have_one_name(model: str) -> None:
    switch = SWITCHES[model]
    names = [switch.default_port_name(number) for number in range(1, switch.ports + 1)]
    assert [switch.port_number(name) for name in names] == list(range(1, switch.ports + 1))


@pytest.mark.parametrize("name", ["Ethernet33/1", "Ethernet1", "Ethernet1/2", "Ethernet0/1", "Management1", "Vlan12"])
def test_what_is_no_port_of_the_model_has_no_number(name: str) -> None:
    assert SWITCHES["arista-7060x"].port_number(name) is None


@pytest.mark.parametrize("number", [0, -1, 35])
def test_a_number_beyond_the_ports_has_no_name(number: int) -> None:
    with pytest.raises(LookupError, match="arista-7060x has ports 1 to 34"):
        SWITCHES["arista-7060x"].default_port_name(number)
