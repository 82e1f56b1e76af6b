"""`--debug`: every request to a cloud or to S3 on stderr, a line each, without its headers, body and query."""

from __future__ import annotations

import logging
import re
import sys

#: Logs a line for each connection and each request of keystoneauth and of S3 clients.
REQUESTS = "urllib3.connectionpool"
#: The query of an address: signatures and names stand in it.
_QUERY = re.compile(r"\?\S+")


class Redacted(logging.Formatter):
    """Milliseconds since the start, and the message without secrets."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        # Imported here: help must not wait for it.
        from interlock.provider.redaction import REDACTOR

        said = _QUERY.sub("?…", record.getMessage())
        return f"debug: {record.relativeCreated:7.0f} ms  {REDACTOR.redact(said)}"


def begin() -> None:
    """Show requests from now on. Calling it again changes nothing."""
    log = logging.getLogger(REQUESTS)
    if any(isinstance(handler.formatter, Redacted) for handler in log.handlers):
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Redacted())
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    log.propagate = False


def begin_if(wanted: bool) -> None:
    """Callback of an option `--debug`."""
    if wanted:
        begin()


def is_on() -> bool:
    """True after `begin`."""
    return logging.getLogger(REQUESTS).level == logging.DEBUG
