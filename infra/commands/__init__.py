"""One module per command of `interlock`; `infra.cli.main` lists them."""
