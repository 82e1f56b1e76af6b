"""The catalogue: machines, pods and switches, each figure with where it comes from."""
