"""The Pulumi program: from files to a proof, the store's part in it, and what stops it before the first resource."""
