"""The proof: facts, graph, rules, reports. Sees only frozen facts; touches no file, cloud or engine."""
