"""Reading files that people write: values with units, YAML with places, faults with file:line:column."""
