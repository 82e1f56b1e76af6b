"""Facts -> edges, row by row of the table in docs/design/semantics.md, and what each plan adds to the whole."""
