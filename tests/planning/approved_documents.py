"""Writes the approved cloud-init documents again: `python -m tests.planning.approved_documents`."""

from __future__ import annotations

from tests.planning.test_userdata import APPROVED, FOLDER


def main() -> None:
    """All of them, and none beside them."""
    for file in FOLDER.iterdir():
        file.unlink()
    for name, document in APPROVED.items():
        (FOLDER / f"{name}.yaml").write_text(document, encoding="utf-8")


if __name__ == "__main__":
    main()
