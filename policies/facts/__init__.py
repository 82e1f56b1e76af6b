"""What is read, typed and frozen, before anybody judges it: the site's, a plan's, and canonical identities."""
