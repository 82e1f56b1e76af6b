"""Top-of-rack switches as a simulator: ssh servers with a command line like that of Arista EOS, over a table of VLANs.

`table` is the core: the frozen state of one switch, and the protocol of what a state is applied to. `command_line`
reads commands (`configuring` what changes a state, `showing` what tells it), `devices` says what a switch is and which
models there are, and `server` is the process that serves those of a rack. No packet flows here: `files` only keeps the
state. With `--frames` the state is applied to `sandbox.fabric` besides.

Everything but `server` and `keys` needs nothing beyond the standard library.
"""
