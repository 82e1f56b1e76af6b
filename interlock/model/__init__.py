"""Files <-> frozen types: sites, tenants, locks. Errors carry file:line:column, a code and a hint."""
