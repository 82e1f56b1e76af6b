"""The graph that rules walk: components in bulk, a small graph of names, searches, names that people know."""
