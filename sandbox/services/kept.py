"""Keeps what services work out anew for each request, though it is the same each time.

- jsonschema makes a class of its own for each validation of a body, a query or an answer
- oslo.policy looks for its file and its folders at each check, and inspects the signature of each rule that it asks
"""

# What is patched or imitated here is private to a project, and its signatures are given.
# ruff: noqa: SLF001

import inspect
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

#: Seconds for which what oslo.policy has read from files is believed.
LOOK = 1.0


def keep() -> None:
    """Patch the libraries; before any project is imported."""
    keep_validators()
    keep_policies()


def keep_validators() -> None:
    """Projects extend a validator by methods that rest on nothing: those of one object serve as well as another's."""
    from jsonschema import validators

    module: Any = validators
    extend, kept = module.extend, dict[Any, Any]()

    def extended(validator: Any, more: Mapping[str, Any] | Any = (), *rest: Any, **options: Any) -> Any:
        words = dict(more)
        bound = all(inspect.ismethod(call) for call in words.values())
        if rest or options or not bound:
            return extend(validator, words, *rest, **options)
        key = validator, tuple((name, call.__func__) for name, call in sorted(words.items()))
        if key not in kept:
            kept[key] = extend(validator, words)
        return kept[key]

    module.extend = extended


def keep_policies() -> None:
    """Files of policies do not change while a cloud runs, or a second later than they do."""
    from oslo_policy import _checks, policy

    load = policy.Enforcer.load_rules

    def load_rules(enforcer: Any, force_reload: bool = False) -> None:
        known, now = len(enforcer.registered_rules), time.monotonic()
        before, then = getattr(enforcer, "_sandbox_looked", (-1, 0.0))
        if force_reload or not enforcer.rules or known != before or now - then > LOOK:
            load(enforcer, force_reload)
            enforcer._sandbox_looked = known, now

    policy.Enforcer.load_rules = load_rules
    _checks.inspect = SimpleNamespace(**{**vars(inspect), "getfullargspec": _kept_signatures(inspect.getfullargspec)})


def _kept_signatures(look: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Of a method, whosever it is."""
    of_function = lru_cache(maxsize=None)(look)
    return lambda call: of_function(getattr(call, "__func__", call))
