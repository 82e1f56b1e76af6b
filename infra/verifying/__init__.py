"""A second derivation of what a certificate states, from the full form of the site and the plans as JSON.

Nothing of the proof is imported here, and nothing of the model: not its identities, defaults, guard tables or roles.
The tables are written from docs/design/semantics.md; `comparing` says what of a certificate they confirm and what not.
"""
