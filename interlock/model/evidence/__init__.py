"""Evidence that what was released is clean: the file, what it says as frozen types, and what each identity needs."""
