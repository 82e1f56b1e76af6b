"""The graph that rules walk: components in bulk, `networkx` graphs of identities, searches, readable names."""
