"""The operator's store of claims: who holds which exclusive identity, and what of each stack is or may be applied.

A folder serves one machine, an S3 bucket a team; both sit behind `objects.ObjectStore`. `ledger.Ledger` is what the
rest of the project uses; claims of identities are in `identities`, marks at boundary nodes in `boundary_nodes`. Records
are `records`; where a store lies, `places`; who writes what several stacks write, `turns`.
"""
