"""The SDK's debug messages tell what is registered, and never with which values."""

from __future__ import annotations

import pulumi
import pytest

from infra.program.sdk_messages import hide_values, shortened


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What reaches the SDK's own function."""
    found: list[str] = []
    monkeypatch.setattr(pulumi.log, "debug", lambda msg, *_, **__: found.append(msg))
    return found


def test_values_are_cut_off_once_and_other_messages_stay(heard: list[str]) -> None:
    hide_values()
    hide_values()
    pulumi.log.debug('resource registration successful: urn=u, props=fields { string_value: "hush" }')
    pulumi.log.debug("registering resource: ty=t, name=n")
    assert heard == ["resource registration successful: urn=u, props=[left out]", "registering resource: ty=t, name=n"]


def test_what_the_sdk_says_has_the_form_that_is_cut() -> None:
    from pathlib import Path

    from pulumi.runtime import resource

    source = Path(str(resource.__file__)).read_text(encoding="utf-8")
    assert "register resource outputs prepared: urn={urn}, props={serialized_props}" in source
    assert shortened("a, props=b") == "a, props=[left out]"
