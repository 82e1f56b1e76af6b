"""What the stand-in for the engine recreates, and in which order it asks; the provider's answers are given here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from interlock.provider.codec import UNKNOWN
from interlock.resources import Network, Project, Resource, Router, Subnet
from tests.support.engine.process import Recorded, Refused
from tests.support.engine.runs import Engine, Stopped
from tests.support.engine.stack import Stack
from tests.support.world.declared import quota

RESOURCES: dict[str, Resource] = {
    "project": Project(name="p"),
    "quota": quota("project"),
    "router": Router(name="r", project="project"),
    "net": Network(name="n", project="project", network_type="vxlan", segmentation_id=1),
    "subnet": Subnet(name="s", project="project", network="net", cidr="10.0.0.0/24"),
}


@dataclass
class Answered(Stack):
    """A stack whose provider recreates what has an input that is not known, and refuses to delete `stays`."""

    stays: str = ""
    asked: list[str] = field(default_factory=list)

    def admit(self, *, preview: bool = True) -> list[str]:
        return []

    def check(self, name: str, inputs: Mapping[str, Any] | None = None, *, anew: bool = False) -> list[tuple[str, str]]:
        return []

    def diff(self, name: str, inputs: Mapping[str, Any] | None = None) -> dict[str, bool]:
        return {key: True for key, value in (inputs or self.inputs(name)).items() if value is UNKNOWN}

    def create(self, name: str, *, inputs: Mapping[str, Any] | None = None, preview: bool = False) -> Recorded:
        found = Recorded(f"id of {name}", dict(inputs or {}), {})
        if not preview:
            self.asked.append(f"create {name}")
            self.state[name] = found
        return found

    def delete(self, name: str, **changed: Any) -> None:
        self.asked.append(f"delete {name}")
        if name == self.stays:
            raise Refused("it stays", self.state[name])
        del self.state[name]


def engine(**options: Any) -> Engine:
    """Of a stack in which everything is made. A quota has the id of its project, as on the cloud."""
    process = cast(Any, SimpleNamespace(tokens=""))
    stack = Answered(process, "lyon-t", "0a11ce", {}, "5172e0", Path("/nowhere"), stays=options.pop("stays", ""))
    stack.declare(RESOURCES)
    for name in RESOURCES:
        stack.state[name] = Recorded(f"id of {name.replace('quota', 'project')}", {}, {})
        stack.state[name].inputs = stack.inputs(name)
    return Engine(stack, None, preflight=False, **options)


def asked(found: Engine) -> list[str]:
    return cast(Answered, found.stack).asked


def test_what_rests_on_it_goes_first_and_is_made_again_in_its_turn() -> None:
    found = engine(forced="net")
    assert list(found.up()) == [
        ("delete", "subnet"), ("delete", "net"), ("create", "net"), ("create", "subnet"),
    ]  # fmt: skip
    assert found.planned == found.recreated == ["net", "subnet"]


def test_the_same_id_is_not_the_same_thing() -> None:
    found = engine(forced="quota")
    assert list(found.up()) == [("delete", "quota"), ("create", "quota")]
    whole = engine(forced="project")
    for _ in whole.up():
        pass
    assert whole.recreated == list(RESOURCES)


def test_what_is_wanted_no_more_goes_last() -> None:
    found = engine()
    found.stack.declare({name: item for name, item in RESOURCES.items() if name not in ("net", "subnet")})
    assert list(found.up()) == [("delete", "subnet"), ("delete", "net")]
    assert found.stack.held() == ["project", "quota", "router"]


def test_a_run_stops_at_what_is_refused_and_says_where() -> None:
    found = engine(stays="net")
    with pytest.raises(Stopped, match="delete net: it stays") as stopped:
        for _ in found.destroy():
            pass
    assert (stopped.value.operation, stopped.value.name) == ("delete", "net")
    assert asked(found) == ["delete subnet", "delete net"]
    assert found.stack.unfinished == {"net"}
    assert found.stack.held() == ["project", "quota", "router", "net"]
