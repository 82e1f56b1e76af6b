"""Writes the generated parts of the pages again: `python -m tests.docs.generate`.

<!-- generated: NAME -->     what `content.CONTENT` gives, up to <!-- end -->
<!-- file: PATH -->          the example that follows holds that file's text
"""

from __future__ import annotations

import re
import sys

from .content import CONTENT
from .pages import ROOT, pages, text_of

_PART = re.compile(r"(?P<head><!-- generated: (?P<name>[\w-]+) -->\n)(?P<old>.*?)(?P<end><!-- end -->)", re.DOTALL)
_FILE = re.compile(
    r"(?P<head><!-- file: (?P<path>\S+) -->\n```\w+\n)(?P<old>.*?)(?P<end>^```$)", re.DOTALL | re.MULTILINE
)


def filled(text: str) -> str:
    """A page with its generated parts as they ought to be."""
    return _FILE.sub(_with_file, _PART.sub(_with_part, text))


def parts(text: str) -> list[str]:
    """Names of the generated parts of a page."""
    return [found["name"] for found in _PART.finditer(text)]


def files(text: str) -> list[str]:
    """Paths of the files that a page holds."""
    return [found["path"] for found in _FILE.finditer(text)]


def main() -> None:
    """Write every page that is not as it ought to be, and say which."""
    for page in pages():
        old = text_of(page)
        new = filled(old)
        if new != old:
            (ROOT / page).write_text(new, encoding="utf-8")
            print(f"{page}: written", file=sys.stderr)


def _with_part(found: re.Match[str]) -> str:
    return f"{found['head']}\n{CONTENT[found['name']](found['old'])}\n\n{found['end']}"


def _with_file(found: re.Match[str]) -> str:
    return found["head"] + (ROOT / found["path"]).read_text(encoding="utf-8") + found["end"]


if __name__ == "__main__":
    main()
