"""The real engine where Keystone lists a second region with nothing in it: no command drops what the first has."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
import yaml

from interlock.provider.clouds import Cloud
from tests.conftest import Sandbox
from tests.e2e.project import Project, changes
from tests.e2e.standing import SITE
from tests.support.cloud.second_region import SECOND, second_region


@pytest.fixture(scope="module")
def two_regions(world: Project, sandbox: Sandbox) -> Iterator[Project]:
    """The operator's stack, applied in the first region, and Keystone lists a second one."""
    with second_region(Cloud(sandbox.cloud)):
        yield world


@contextmanager
def _in(project: Project, region: str | None) -> Iterator[Project]:
    """The same with this region in clouds.yaml; beside the usual one, since the claims lie there."""
    known = yaml.safe_load(project.clouds_yaml.read_text())
    entry = known["clouds"]["sandbox"]
    entry.pop("region_name", None)
    entry.update({"region_name": region} if region else {})
    path = project.clouds_yaml.with_name("clouds-of-a-test.yaml")
    path.write_text(yaml.safe_dump(known))
    yield replace(project, clouds_yaml=path)
    path.unlink()


def test_refresh_and_preview_in_the_other_region_are_refused(two_regions: Project) -> None:
    before = two_regions.state(SITE)["resources"]
    assert len(before) > 20
    with _in(two_regions, SECOND) as there:
        refreshed = there.pulumi("refresh", SITE, "--yes")
        previewed = there.pulumi("preview", SITE)
    assert refreshed.code != 0
    assert "is in region RegionOne of cloud 'sandbox'; the region in use is RegionTwo" in refreshed.text
    assert previewed.code != 0
    assert "(region RegionOne); the one in use is" in previewed.text
    names = [item["urn"] for item in before]
    assert [item["urn"] for item in two_regions.state(SITE)["resources"]] == names


def test_without_a_region_the_preview_names_both(two_regions: Project) -> None:
    with _in(two_regions, None) as nowhere:
        previewed = nowhere.pulumi("preview", SITE)
    assert previewed.code != 0
    assert "has the regions RegionOne, RegionTwo, and nobody states which one is meant" in previewed.text


@pytest.fixture
def stating(two_regions: Project) -> Iterator[Callable[[str], Project]]:
    """The project with a site file that states a region, and locks to it; afterwards as it was."""
    folder, kept = two_regions.folder / "stacks", two_regions.folder / "kept"
    shutil.copytree(folder, kept)

    def stated(region: str) -> Project:
        shutil.rmtree(folder)
        shutil.copytree(kept, folder)
        two_regions.edit("lyon/site.yaml", "cloud: sandbox\n", f"cloud: sandbox\nregion: {region}\n")
        two_regions.must(two_regions.interlock("lock"))
        return two_regions

    yield stated
    shutil.rmtree(folder)
    kept.rename(folder)


def test_the_site_file_states_it_where_clouds_yaml_does_not(stating: Callable[[str], Project]) -> None:
    with _in(stating("RegionOne"), None) as here:
        previewed = here.must(here.pulumi("preview", SITE, "--diff"))
        assert "RegionOne" in previewed.text
    with _in(stating(SECOND), None) as there:
        refused = there.pulumi("preview", SITE)
    assert refused.code != 0
    # The read-only checks of a preview look first: what the plan refers to is not in that region.
    assert "errored" in refused.text
    assert "created" not in refused.text


def test_in_its_own_region_nothing_is_to_do(two_regions: Project) -> None:
    assert set(changes(two_regions.refresh(SITE))) == {"unchanged"}
    two_regions.unchanged(SITE)
