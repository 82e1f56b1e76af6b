"""Requests of tenants: the file, its checks and names, and the full form with every default filled in."""
