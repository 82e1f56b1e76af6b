"""Locks: what each tenant was given, how it is written down, and locks of earlier formats."""
