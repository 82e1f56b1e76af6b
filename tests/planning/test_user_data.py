"""User data keeps its bytes: a server whose user data changes is replaced."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from interlock.planning.user_data import controller_user_data, poplar_user_data

FOLDER = Path(__file__).parent / "user_data"
#: As version 0.1.0 wrote them: hostname, address and port of the API.
POPLAR = {
    "acme-train-poplar-0": ("10.18.0.4", 8090),
    "1e3-0x10-poplar-12": ("10.127.255.254", 65535),
    "a1234567890b-a-rather-long-name-of-a-vpod-of-32-chars-poplar-15": ("192.0.2.1", 1),
}
CONTROLLERS = ("acme-train-vipu", "no-on-vipu")


@pytest.mark.parametrize("hostname", POPLAR)
def test_user_data_of_a_poplar_server_keeps_its_bytes(hostname: str) -> None:
    assert poplar_user_data(hostname, *POPLAR[hostname]).encode() == (FOLDER / f"{hostname}.yaml").read_bytes()


@pytest.mark.parametrize("hostname", CONTROLLERS)
def test_user_data_of_a_controller_keeps_its_bytes(hostname: str) -> None:
    assert controller_user_data(hostname).encode() == (FOLDER / f"{hostname}.yaml").read_bytes()


def test_every_document_of_the_folder_is_compared() -> None:
    assert {file.stem for file in FOLDER.iterdir()} == {*POPLAR, *CONTROLLERS}


def test_cloud_init_reads_what_was_meant() -> None:
    read = yaml.safe_load(controller_user_data("acme-train-vipu"))
    assert read["hostname"] == "acme-train-vipu"
    assert read["runcmd"] == [["sysctl", "--system"]]
    assert [file["permissions"] for file in read["write_files"]] == ["0644", "0644"]
    assert "net.ipv4.ip_forward = 0\n" in read["write_files"][0]["content"]


def test_a_hostname_that_yaml_would_take_for_a_number_stays_a_text() -> None:
    assert yaml.safe_load(poplar_user_data("1e3", "10.0.0.1", 80))["hostname"] == "1e3"
    assert yaml.safe_load(controller_user_data("0644"))["hostname"] == "0644"
