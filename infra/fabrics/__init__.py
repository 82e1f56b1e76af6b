"""A survey of a site's subnet managers: how each is set, as far as its UFM says it, and what the proof takes of it."""
