"""V-IPU by its commands: how a controller is reached, what it is told, and what its answers mean.

`file` and `loading` read `vipu.yaml`; `flags` has every word of the commands and how an operator may spell it;
`commands` makes command lines; `transport` runs one, here or over ssh; `answers` turns JSON into frozen types; `client`
has the calls. Wording of errors and exit codes of V-IPU are in no public source, so nothing is decided from them: after
a command that failed, or whose answer was lost, the client looks at what is there. Nothing here knows of OpenStack or
of plans.
"""
