"""A second derivation of what a certificate states, from the full form of the site, the plans and the locks as JSON.

Nothing of the proof is imported here, and nothing of the model: not its identities, defaults, guard tables or roles.
The tables are written from docs/design/semantics.md: `ports`, `wires`, `terminals` and `unlisted` are about the site,
`planned`, `planned_devices` and `residue` about plans and locks, `calls` and `authority` about API calls, `evidence`
about guards that rest on readings of switches; `deriving` puts them together, and `comparing` says what of a
certificate they confirm and what not.
"""
