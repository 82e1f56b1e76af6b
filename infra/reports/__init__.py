"""Plans, sites and findings as text for people: trees, changes, costs, places in files, summaries."""
