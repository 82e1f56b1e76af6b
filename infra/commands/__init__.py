"""One module per command of `interlock`; `infra.cli` lists them."""
