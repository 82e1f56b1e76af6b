"""Starts, stops and looks after one embedded cloud. Standard library only.

`commands` is what a person types; under it, each module does one thing:
`install` makes the virtual environment, `golden` the image with schemas and
seed data, `instance` one running copy of it, `processes` its ten processes.
`catalogue` is the table of processes and endpoints that all of them read.
"""
