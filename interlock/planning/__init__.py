"""Site + tenant + lock -> plan, and the allocation that a lock records. Pure: same inputs, same bytes."""
