"""Answers that are not as they are known: misread, with words, and never taken for something else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlock.vipu.answers import SaidPartition, SaidUser, VipuMisread, each, partition_of, user_of


def _user(admin: Any) -> str:
    return json.dumps([{"id": "u", "spec": {"admin": admin, "allocations": ["a"]}}])


def _partition(**changes: Any) -> str:
    spec = {"cluster": "c", "allocation": "a", "ipus": ["0", "1"], "num_gcds": 1, "num_replicas": 1,
            "reconfigurable": False, "sync_type": "c2-compatible", "routing": "default"} | changes  # fmt: skip
    return json.dumps([{"partition": {"id": "p", "spec": spec, "status": {"state": "PS_ACTIVE"}}}])


def test_what_is_as_known_is_read() -> None:
    assert each(_user(admin=False), user_of) == (SaidUser("u", admin=False, allocations=("a",)),)
    (found,) = each(_partition(), partition_of)
    assert isinstance(found, SaidPartition)
    assert (found.ipus, found.reconfigurable, found.state) == (2, False, "ACTIVE")


@pytest.mark.parametrize("admin", ["false", 0, None])
def test_a_text_is_no_truth(admin: Any) -> None:
    with pytest.raises(VipuMisread, match="neither true nor false"):
        each(_user(admin), user_of)


@pytest.mark.parametrize(
    "changes", [{"reconfigurable": "false"}, {"ipus": "0-15"}, {"num_gcds": float("inf")}, {"num_replicas": "many"}]
)
def test_a_partition_of_another_form_is_misread(changes: dict[str, Any]) -> None:
    with pytest.raises(VipuMisread, match="not as it is known"):
        each(_partition(**changes), partition_of)
