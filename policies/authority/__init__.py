"""Auth: what each owner can do by API calls alone, as closed sets of grants."""
