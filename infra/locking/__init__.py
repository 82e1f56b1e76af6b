"""What `interlock lock` does: make, check, index and upgrade locks, and say what changed."""
