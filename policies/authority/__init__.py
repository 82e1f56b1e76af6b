"""Auth: what each owner can do by calls alone, as closed sets of grants."""
