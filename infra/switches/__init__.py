"""A survey of a site's switches: which are read, what plans want of them, and all that was found."""
