"""A user that is recreated by a run that is killed before it leaves the key: the next run notices."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlock.provider.clouds import Cloud
from interlock.provider.diffing import compare
from interlock.provider.state import Declared
from interlock.provider.vipu_users import ANY, MADE, USER_MADE, keys_of_others
from interlock.resources import ID_OF, Resource, StoredCredential, VipuUser
from interlock.vocabulary.owners import OwnerId
from sandbox.vipu.refusals import VipuRefused
from tests.kills.vipu_ground import VipuGround, vipu_ground
from tests.support.engine.runs import destroy
from tests.support.paper.vpod import THERE, stack_on


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[VipuGround]:
    with vipu_ground(tmp_path) as found:
        yield found


def test_a_user_alone_then_a_kill(ground: VipuGround) -> None:
    """Refreshed alone, so that its key stays in the state; recreated; killed. The key that waits is dead until the
    next run, which leaves another one, once.
    """
    process: Any = None
    stack = stack_on(ground.vpod, process)
    names = [name for name in stack.resources if name not in THERE]
    assert ground.up(stack, names, preflight=True) == []
    ground.vpod.check_key()
    ground.vpod.controllers.told(ground.vpod.server, "remove user poplar-0")
    stack.process = victim = ground.victim()
    assert stack.read("user", record=False) is None
    victim.close()
    del stack.state["user"]
    assert ground.up(stack, names[: names.index("user") + 1], preflight=True) == []
    with pytest.raises(VipuRefused):
        ground.vpod.check_key()
    assert ground.up(stack, names, preflight=True) == ["handed"]
    ground.vpod.check_key()
    assert ground.up(stack, names, preflight=True) == []
    stack.process = victim = ground.victim()
    destroy(stack, names)
    victim.close()


_CONTROLLER, _FIELD = "5b0f3a52-7d3c-4f5e-9a3f-0d2f6f0d9a11", f"{ID_OF}credential"
_USER = VipuUser(name="poplar-0", allocations=("a",), controller="c", managed_by="interlock")
_KEY = StoredCredential(project="p", credential="user", place="poplar-0", item="vipu")


def _item(name: str, spec: Resource, **ids: str) -> Declared:
    return Declared(
        spec.KIND, name, spec, OwnerId("0ac3e0"), {f"{ID_OF}{field}": ident for field, ident in ids.items()}
    )


@pytest.mark.parametrize(
    ("made", "of_key", "is_dead"),
    [
        (None, None, False),  # both of before there were words
        ("one", "one", False),
        ("two", "one", True),
        ("two", None, True),  # left before there were words, of a user that was made since
        ("two", ANY, False),  # left by a run that did not come by its user
    ],
)
def test_words_of_user_and_key_are_compared(made: str | None, of_key: str | None, *, is_dead: bool) -> None:
    cloud, key = Cloud("paper"), _item("key", _KEY, credential=f"{_CONTROLLER}/user/poplar-0")
    # Nobody has come by the user yet, so nothing is known of it.
    assert keys_of_others(cloud, key, {USER_MADE: of_key}) == []
    assert keys_of_others(cloud, _item("user", _USER, controller=_CONTROLLER), {MADE: made}) == []
    found = keys_of_others(cloud, key, {USER_MADE: of_key})
    assert found == ([_FIELD] if is_dead else [])
    assert compare(key.kind, "key", key.inputs(), key.inputs(), found).replaces == found
