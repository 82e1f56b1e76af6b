"""Stacks of Pulumi: the engine's command line, what its backend holds, and what must let go after a kill."""
