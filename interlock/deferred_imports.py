"""Packages whose `__init__` runs only when something needs what it defines.

Some libraries load all of themselves in the `__init__` of their top package, which stands before every module in it:
`import openstack.config` loads every service that openstacksdk knows, and the gRPC stubs of Pulumi's SDK bring the
SDK. Processes that a `pulumi up` waits for, and that use one such module, defer that.
"""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any


def defer(*packages: str) -> None:
    """Make packages importable without running their `__init__`; parents stand before what lies in them.

    Their modules can be imported as always. The first other name that is looked up in a package runs its `__init__`,
    so whoever uses the package itself finds it as it always is. A package that is loaded already, or cannot be found,
    is left alone.
    """
    for name in packages:
        spec = None if name in sys.modules else _spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            sys.modules[name] = module = _deferred(spec)
            parent, _, leaf = name.rpartition(".")
            if parent in sys.modules:
                setattr(sys.modules[parent], leaf, module)  # as an import does


def _spec(name: str) -> ModuleSpec | None:
    """Where a package lies. Unlike `find_spec` alone this imports no parent."""
    parent, _, _ = name.rpartition(".")
    if not parent:
        return find_spec(name)  # asks every finder: what is installed editable has one of its own
    above = sys.modules[parent].__spec__ if parent in sys.modules else _spec(parent)
    return PathFinder.find_spec(name, above.submodule_search_locations) if above else None


def _deferred(spec: ModuleSpec) -> ModuleType:
    module = module_from_spec(spec)

    def find(attribute: str) -> Any:
        """What Python asks for names that the module does not have (PEP 562)."""
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        full = f"{spec.name}.{attribute}"
        if PathFinder.find_spec(full, spec.submodule_search_locations) is not None:
            return importlib.import_module(full)
        vars(module).pop("__getattr__", None)
        assert spec.loader is not None, "packages that are found on a path have a loader"
        spec.loader.exec_module(module)
        return getattr(module, attribute)

    module.__dict__["__getattr__"] = find
    return module
