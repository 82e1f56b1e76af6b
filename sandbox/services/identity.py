"""Keystone and Placement in one process. Both are real; nothing stands in."""

# What is patched or imitated here is private to a project, and its signatures are given.
# ruff: noqa: SLF001

import os
import sys
from collections.abc import Iterable

from sandbox.services import kept, process, sqlite
from sandbox.services.journal import Application, Environ, StartResponse


def forget_last_request(application: Application) -> Application:
    """Let no request see what an earlier one on the same thread has cached.

    Keystone keeps a cache of its own on oslo.context's current context, which stays on the
    thread until another context replaces it. A request without one, such as a login, would
    go on with it, and give or check a token by roles that have changed since.
    """
    from oslo_context import context

    def fresh(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        vars(context._request_store).pop("context", None)
        return application(environ, start_response)

    return fresh


def main() -> None:
    """Start both APIs and wait."""
    instance = process.here()
    process.die_when_uncaught()
    sys.argv = ["keystone"]
    os.environ["OS_KEYSTONE_CONFIG_DIR"] = str(instance.conf)
    os.environ["OS_PLACEMENT_CONFIG_DIR"] = str(instance.conf)
    sqlite.tune()
    kept.keep()

    from keystone.wsgi import api as keystone

    process.serve(instance, "keystone", forget_last_request(keystone.application))

    from placement.wsgi import api as placement

    process.serve(instance, "placement", placement.application)

    process.die_when_uncaught()
    process.ready(instance, "identity")
    process.wait_for_the_end()


if __name__ == "__main__":
    main()
