"""The embedded cloud: a real OpenStack and two simulated switches on loopback, made for trying and testing.

Nobody outside imports it; it is started as a program, `python3 sandbox/supervisor.py`,
and reached through its APIs. It knows nothing of the rest of the project. README.md
tells what is real and what stands in.
"""
