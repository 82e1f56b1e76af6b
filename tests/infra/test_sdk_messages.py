"""The SDK's debug messages hold registered values: none reaches the engine."""

from __future__ import annotations

from types import SimpleNamespace

import pulumi
import pytest
from pulumi.runtime.settings import SETTINGS

from infra.program.sdk_messages import silence_sdk


def test_debug_messages_are_not_sent_and_others_are(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []
    # Another test of this process may have silenced the SDK's own.
    monkeypatch.setattr(pulumi.log, "debug", heard.append)
    monkeypatch.setattr(SETTINGS, "engine", SimpleNamespace(Log=lambda request: heard.append(request.message)))
    pulumi.log.debug("before")
    silence_sdk()
    silence_sdk()
    pulumi.log.debug('resource registration successful: urn=u, props=fields { string_value: "hush" }')
    pulumi.log.warn("a warning")
    assert heard == ["before", "a warning"]


def test_the_sdk_asks_its_module_for_the_function() -> None:
    from pathlib import Path

    from pulumi.runtime import resource

    source = Path(str(resource.__file__)).read_text(encoding="utf-8")
    assert "log.debug(" in source
    assert "from ..log import" not in source
