"""What switches themselves say: who may ask them, reading them, and comparing it with what is stated and planned.

`file` and `loading` read `switches.yaml`; `transport` asks over ssh, only what `commands` lists; `eos` and `cumulus`
make `observed` of the answers; `comparison` and `cabling` are pure and hold it against the site and the plans. Nothing
here knows of OpenStack, and nothing here changes a switch. What a reader does not know is None, never a default.
"""
