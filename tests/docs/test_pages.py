"""Every example is tested somewhere, examples in YAML load, and links lead somewhere."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import pytest
import yaml

from tests.docs.newcomer import ROUTE
from tests.docs.pages import ROOT, anchors, blocks, links, offline, pages, text_of, with_cloud


@pytest.mark.parametrize("page", pages())
def test_every_example_says_how_it_is_tested(page: str) -> None:
    assert {block.place: block.unknown for block in blocks(page) if block.unknown} == {}
    # A fence that the pattern does not find would hide what stands in it.
    assert text_of(page).count("```") == 2 * len(list(blocks(page)))


def test_no_command_escapes() -> None:
    """Each is run without a cloud, or in the newcomer's clone, or is long and there."""
    for page in pages():
        commands = [block for block in blocks(page) if block.language == "sh"]
        long = [block for block in commands if block.left_to_people]
        assert len(commands) == len(offline(page)) + len(with_cloud(page)) + len(long)
        assert page in ROUTE or not with_cloud(page), f"{page} needs a cloud, and the newcomer does not read it"
        for module in re.findall(r"python -m benchmarks\.(\w+)", "".join(block.text for block in long)):
            assert (ROOT / "benchmarks" / f"{module}.py").is_file(), f"{page} names benchmarks.{module}"


@pytest.mark.parametrize("page", pages())
def test_yaml_examples_load(page: str) -> None:
    for block in blocks(page):
        if block.language == "yaml":
            assert yaml.safe_load(block.text), block.place


@pytest.mark.parametrize("page", pages())
def test_links_resolve(page: str) -> None:
    for link in links(page):
        if not re.match(r"[a-z]+:", link):
            _require(page, link)


def _require(page: str, link: str) -> None:
    path, _, anchor = link.partition("#")
    target = (ROOT / page).parent / path if path else ROOT / page
    assert target.exists(), f"{page} links to {link}"
    if anchor:
        assert anchor in anchors(target.resolve().relative_to(ROOT).as_posix()), f"{page} links to {link}"


@pytest.mark.parametrize("page", pages())
def test_paths_in_code_style_exist(page: str) -> None:
    """A path with a folder of this repository in front names something that is there."""
    tops = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")}
    for found in re.findall(r"`([\w./-]+/[\w./-]*)`", text_of(page)):
        if PurePosixPath(found).parts[0] in tops and "mysite" not in found and "hooli" not in found:
            assert (ROOT / found).exists(), f"{page} names {found}"


def test_every_page_is_in_the_index() -> None:
    index = {((ROOT / "docs") / link).resolve() for link in links("docs/README.md")}
    below = {ROOT / page for page in pages() if page.startswith("docs/") and page != "docs/README.md"}
    assert below <= index
