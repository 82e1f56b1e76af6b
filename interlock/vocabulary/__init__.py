"""Identities as values: frozen types with one `parse` and one `str`. Text stands at the edges only."""
