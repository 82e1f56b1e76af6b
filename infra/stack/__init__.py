"""Stacks of Pulumi: the engine's command line, its backend, and unlocking and settling after a kill."""
