"""What the sandbox's services keep from one request to the next decides nothing otherwise than before."""

from __future__ import annotations

import subprocess

import pytest

from sandbox.launcher.layout import VENV
from tests.conftest import ROOT

#: Validators of Keystone, as its API makes one for each request, print whom they refuse.
VALIDATED = """
from keystone import exception
from keystone.api.validation.validators import _SchemaValidator


def refuses(validator, value):
    try:
        validator.validate(value)
    except exception.SchemaValidationError:
        return True
    return False


low = _SchemaValidator({"properties": {"a": {"minimum": 3}}})
high = _SchemaValidator({"properties": {"a": {"minimum": 30}}})
closed = _SchemaValidator({"properties": {"a": {"minimum": 3}}, "additionalProperties": False})
lenient = _SchemaValidator({"properties": {"a": {"minimum": 3}}, "additionalProperties": False}, True)
values = [{"a": "2"}, {"a": "7"}, {"a": 70}, {"a": "7", "b": 1}]
print([[refuses(validator, value) for value in values] for validator in (low, high, closed, lenient)])
print(len({type(validator.validator) for validator in (low, high, closed, lenient)}))
"""

#: A check of oslo.policy, before and after its file says something else, and after another rule was registered.
CHECKED = """
import tempfile
import time

from oslo_config import cfg
from oslo_policy import policy

conf = cfg.ConfigOpts()
conf([])
with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
    file.write('"look": "role:admin"')
    file.flush()
    enforcer = policy.Enforcer(conf, policy_file=file.name)

    def allowed(rule, role):
        return bool(enforcer.enforce(rule, {}, {"roles": [role]}))

    enforcer.register_default(policy.RuleDefault("look", "!"))
    print(allowed("look", "admin"), allowed("look", "member"))
    enforcer.register_default(policy.RuleDefault("touch", "rule:look or role:member"))
    print(allowed("touch", "admin"), allowed("touch", "member"), allowed("touch", "reader"))
    time.sleep(0.5)
    file.seek(0)
    file.write('"look": "role:reader or role:member"')
    file.flush()
    time.sleep(1.5)
    print(allowed("look", "admin"), allowed("look", "member"), allowed("look", "reader"))
"""


def printed(program: str) -> tuple[list[str], list[str]]:
    """What it prints in a process of the cloud's own Python, with what is kept and without."""
    kept, plain = (
        subprocess.run(
            [str(VENV / "bin" / "python"), "-W", "ignore", "-c", head + program],
            cwd=ROOT, capture_output=True, text=True, check=True, timeout=120,
        ).stdout.splitlines()
        for head in ("from sandbox.services import kept\nkept.keep()\n", "")
    )  # fmt: skip
    return kept, plain


@pytest.mark.usefixtures("sandbox")
def test_validators_of_one_kind_share_a_class_and_nothing_else() -> None:
    kept, plain = printed(VALIDATED)
    assert kept[0] == plain[0]
    assert kept[0] == str([
        [True, False, False, False], [True, True, False, True], [True, False, False, True], [True, False, False, False],
    ])  # fmt: skip
    assert (kept[1], plain[1]) == ("2", "4")


@pytest.mark.usefixtures("sandbox")
def test_a_policy_file_that_changes_and_a_rule_that_comes_later_are_heeded() -> None:
    kept, plain = printed(CHECKED)
    assert kept == plain == ["True False", "True True False", "False True True"]
