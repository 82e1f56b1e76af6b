"""A cloud on paper for real provider processes: Keystone, Nova and Barbican as far as V-IPU needs them."""
