"""Certificates for logging in: a tenant's certificate authority outside the repository, what it signed and revoked"""
