"""The `interlock` command line: entry point, table of commands, exit codes, colour."""
