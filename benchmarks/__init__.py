"""How long things take and how much memory they need: ratios in one run, whole processes.

Each is one command, in a shell that `eval "$(./run env)"` prepared:

    python -m benchmarks.up         `pulumi up` of a tenant against a bare openstacksdk script
    python -m benchmarks.unchanged  `pulumi up` with no change and `interlock check` against the full `up`
    python -m benchmarks.growth     `interlock lock` and `check` with 1, 10 and 50 tenants
    python -m benchmarks.vpod_life  `up` and `audit` of a vPOD with everything, by its size, and the phases of its life
    python -m benchmarks.demo       `./run demo` in a fresh clone, cold and warm, step by step

The last measured results, and what they mean: docs/benchmarks.md.
"""
