"""Glance with its file store. Real; nothing stands in."""

import os
import sys

from sandbox.services import kept, process, sqlite


def main() -> None:
    """Start the API and wait."""
    instance = process.here()
    process.die_when_uncaught()
    sys.argv = ["glance-api"]
    os.environ["OS_GLANCE_CONFIG_DIR"] = str(instance.conf)
    os.environ["OS_GLANCE_CONFIG_FILES"] = "glance-api.conf"
    sqlite.tune()
    kept.keep()

    from glance.wsgi import api

    process.serve(instance, "glance", api.application)

    process.die_when_uncaught()
    process.ready(instance, "glance")
    process.wait_for_the_end()


if __name__ == "__main__":
    main()
