"""The processes of the embedded cloud; they run in its own virtual environment.

Each module starts one OpenStack project inside one process, real code throughout:
its API, its scheduler, its conductor or agents, on an in-memory RPC transport with
native threads, over SQLite. What needs hardware has a stand-in, and the module that
holds or chooses it says so at its top.

Order matters everywhere here: what patches a library must run before the library is
imported, and most projects read their configuration while they are imported. So the
imports stand inside the functions, in the order in which they must happen.
"""
