"""A survey of a site's V-IPU controllers: how each is set, as far as it and its machine say it."""
