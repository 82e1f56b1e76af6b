"""`python -m tests.infra.approved_texts` writes the approved texts of plans again; look at the difference."""

from __future__ import annotations

from tests.infra.test_plan_command import APPROVED, approved_texts


def main() -> None:
    """Write every text, and remove those that are no more."""
    APPROVED.mkdir(exist_ok=True)
    texts = approved_texts()
    for path in APPROVED.iterdir():
        if path.stem not in texts:
            path.unlink()
    for name, text in texts.items():
        (APPROVED / f"{name}.txt").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
