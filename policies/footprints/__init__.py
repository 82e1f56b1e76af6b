"""What a plan is to others, and others to it: boundaries, neighbours, versions, what is applied."""
