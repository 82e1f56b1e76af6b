"""Everything of a site and a tenant goes, each object once more after it went, and nothing is left."""

from __future__ import annotations

from pathlib import Path

from interlock.provider.actuators import ACTUATORS
from interlock.provider.clouds import Cloud
from tests.support.cloud.stage import Stage
from tests.support.world.small import on_the_network, small_world


def test_everything_goes_and_nothing_is_left(stage: Stage, operator: Cloud, folder: Path) -> None:
    # A world of its own, since it is taken down: another of the same names must not stand.
    stage.clear()
    with small_world(operator, folder) as world:
        for program in (world.tenant, world.site):
            for name in list(reversed(program.state)):
                gone = program.state[name]
                program.delete(name)
                if ACTUATORS[program.resources[name].KIND].VANISHES:
                    program.state[name] = gone
                    if program.resources[name].KIND != "Bucket":
                        assert program.read(name, record=False) is None
                    program.delete(name)  # a second time: what is gone is gone
        assert on_the_network(operator) == world.before
