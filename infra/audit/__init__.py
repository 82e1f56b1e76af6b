"""Audit: the live cloud compared with what was proved, as an observed plan, and the report of it."""
