"""Makes SQLite serve eight busy processes without "database is locked".

Three measures: a write-ahead log, so that readers never wait; no fsync, because a
sandbox may lose its last second with the machine (but not with a killed process); and
writers that take the write lock when their transaction begins. SQLite's busy timeout
does not help a transaction that has read and then wants to write.

One more is for speed: connections are kept. oslo.db opens one for each transaction on a
file, and SQLite then reads the whole schema again: Neutron's has two hundred tables.
"""

# What is patched or imitated here is private to a project, and its signatures are given.
# ruff: noqa: SLF001

import sqlite3
from types import SimpleNamespace
from typing import Any

BUSY_MILLISECONDS = 60_000

#: Connections that one process keeps to one database: as many as it has threads, or nearly so.
KEPT = 32


def tune() -> None:
    """Patch SQLAlchemy and oslo.db; before any project opens its database."""
    from oslo_db.sqlalchemy import enginefacade, engines
    from sqlalchemy import event, pool
    from sqlalchemy.engine import Engine

    event.listen(Engine, "connect", set_pragmas)
    event.listen(Engine, "begin", begin)
    # Its `NullPool` is what oslo.db chooses for a file, and all that it does with this class is to name it.
    engines.pool = SimpleNamespace(**{**vars(pool), "NullPool": _kept(pool.QueuePool)})
    original = enginefacade._TransactionFactory._create_session

    def create_session(factory: Any, mode: Any, bind: Any = None) -> Any:
        session = original(factory, mode, bind)
        engine = session.bind
        if mode is enginefacade._WRITER and isinstance(engine, Engine) and engine.dialect.name == "sqlite":
            session.bind = engine.execution_options(sandbox_begin="IMMEDIATE")
        return session

    enginefacade._TransactionFactory._create_session = create_session


def _kept(queue_pool: Any) -> Any:
    """A pool that hands out the connection used last, whose pages of the database are in memory."""

    class KeptConnections(queue_pool):
        def __init__(self, creator: Any, **options: Any) -> None:
            super().__init__(creator, **{"pool_size": KEPT, "max_overflow": -1, "use_lifo": True, **options})

    return KeptConnections


def set_pragmas(connection: Any, _: Any) -> None:
    """Settings of a new connection."""
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=OFF")
        connection.execute(f"PRAGMA busy_timeout={BUSY_MILLISECONDS}")


def begin(connection: Any) -> None:
    """Begin a transaction in the mode that its session asked for.

    oslo.db has its own listener that begins once per connection and marks that in
    `info`; the same mark keeps it from beginning again.
    """
    if connection.dialect.name == "sqlite" and "in_transaction" not in connection.info:
        mode = connection.get_execution_options().get("sandbox_begin", "DEFERRED")
        connection.exec_driver_sql(f"BEGIN {mode}")
        connection.info["in_transaction"] = True
