"""The input of the rules, typed and frozen: facts of the site, facts of a plan, and canonical identities."""
