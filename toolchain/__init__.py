"""Makes a bare machine a working one: Python environment, Pulumi, language host, provider plugin.

Everything is made below `.interlock/`, under a temporary name first and then renamed, so an interrupted run
leaves nothing that looks finished. All modules but `language_host` and `run_program` use the standard library
alone: they run before anything is installed. Nothing in the project imports this package.
"""
