"""The world of the channel's tests."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from tests.channel.world import World


@pytest.fixture
def world(caplog: pytest.LogCaptureFixture) -> Iterator[World]:
    caplog.set_level(logging.DEBUG)
    yield World()
    assert "never-in-a-log" not in caplog.text
