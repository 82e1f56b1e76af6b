"""The site: the operator's inventory, its file, the checks of it, and its one full form."""
