"""Ways around the proof with what Pulumi offers beside `up`, each walked on a tenant that stands.

`import`, `state delete`, `refresh`, `destroy`, `--target`, an old state put back, a lock edited while the question
waits; all of it without the policy pack, on which nothing here rests. A second backend is in `test_claims.py`,
`--replace` in `test_fence_replace.py`, code beside the plan and `--skip-preview` in `test_fence.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from openstack.connection import Connection

from interlock.store.ledger import Ledger
from interlock.store.places import open_store
from tests.conftest import Sandbox
from tests.e2e.identity import identity
from tests.e2e.listing import listing
from tests.e2e.project import Project, Result, changes
from tests.e2e.standing import SITE, Standing
from tests.e2e.terminal import YES, Terminal
from tests.e2e.victim import STACK, request_of
from tests.support.cloud.journal import Journal

CLAIMS, PROJECT, NETWORK = "initech-claims", "initech-project", "initech-lab-ipu-data"
SERVER, ATTACHMENT = "initech-lab-poplar-0", "initech-lab-poplar-0-attachment"
VOLUME, GROUP, BUCKET, MORE = "initech-lab-poplar-0-data", "initech-lab-poplar-ssh", "initech-results", "initech-logs"
REQUEST = "lyon/tenants/initech.yaml"
ONE_MORE_BUCKET = ("  results: {versioning: true}\n", "  results: {versioning: true}\n  logs: {}\n")
A_COPY_OF_THE_DATA = ("volume: 10GiB", "volume: {size: 10GiB, on_delete: snapshot}")
PLACE, WRITTEN = 4096, b"what the tenant wrote"

pytestmark = pytest.mark.timeout(1800)


@pytest.fixture(scope="module")
def standing(stands: Standing, cloud: Connection) -> Iterator[Project]:
    """The small tenant, applied by this file or one before it; afterwards it is gone, whatever the tests left."""
    victim = stands.apply(SITE, STACK)
    path = victim.folder / "stacks" / REQUEST
    before = path.read_text()
    try:
        yield victim
    finally:
        stands.applied.discard(STACK)
        if path.read_text() != before:
            path.write_text(before)
            victim.must(victim.interlock("lock", "initech"))
        if victim.objects(STACK) and victim.pulumi("destroy", STACK, "--yes").code:
            _clear(cloud)
            victim.destroy(STACK)


def _clear(cloud: Connection) -> None:
    """Take away what tests put beside the tenant's objects, and copies of its data."""
    for port in cloud.network.ports(name="a-strangers-port"):
        cloud.network.delete_port(port)
    project = identity(cloud).find_project("initech")
    for backup in list(cloud.block_storage.backups(all_projects=True, project_id=project.id)) if project else []:
        cloud.block_storage.delete_backup(backup.id)
        cloud.block_storage.wait_for_delete(backup)
    for group in cloud.network.security_groups():
        if group.name == "a-strangers-group" or (group.name == GROUP and not group.description):
            cloud.network.delete_security_group(group)


def _up(project: Project, *arguments: str) -> Result:
    """`pulumi up` without the pack."""
    return project.pulumi("up", STACK, "--yes", *arguments)


def _asked(since: Journal) -> list[tuple[str, str]]:
    """What our provider asked services to change."""
    return [(item["method"], item["path"]) for item in since.ours()]


def _ids(project: Project) -> dict[str, str]:
    return {name: item["id"] for name, item in project.objects(STACK).items()}


def _urn(project: Project, name: str) -> str:
    return str(project.objects(STACK)[name]["urn"])


def _applied(sandbox: Sandbox) -> list[str]:
    """Versions of the footprints that are applied, or may be, as the store has them."""
    record = Ledger(open_store((sandbox.dir / "claims").as_uri(), "lyon")).stack(STACK)
    return [entry.digest for entry in record.entries] if record else []


@contextmanager
def _state_put_back(project: Project) -> Iterator[None]:
    """Whatever becomes of the state, at the end it is as before."""
    saved = _export(project)
    try:
        yield
    finally:
        _import(project, saved)


def _export(project: Project) -> str:
    return project.must(project.run("pulumi", "stack", "export", "--stack", STACK)).out


def _import(project: Project, saved: str) -> None:
    file = project.folder / "exported.json"
    file.write_text(saved)
    project.must(project.run("pulumi", "stack", "import", "--stack", STACK, "--file", str(file)))


def test_import_takes_nothing_in(standing: Project, cloud: Connection, journal: Journal) -> None:
    """Neither a stranger's object, though it has the name of one of ours, nor one of ours under another name."""
    stranger = cloud.network.create_network(name=NETWORK)
    try:
        before, since = _ids(standing), journal.now()
        resources = standing.state(STACK)["resources"]
        provider = next(item["urn"] for item in resources if item["type"] == "pulumi:providers:interlock")
        for name, ident in (("initech-lab-found", stranger.id), ("initech-lab-again", before[NETWORK])):
            refused = standing.pulumi(
                "import", STACK, "interlock:index:Network", name, ident, "--yes", "--generate-code=false",
                "--provider", f"interlock={provider}",
            )  # fmt: skip
            assert refused.code != 0
            assert f"Network {name}: the state has no record of {ident}" in refused.text, refused.text
            assert "it cannot be imported" in refused.text
        assert _asked(since) == []
        assert _ids(standing) == before
        assert cloud.network.get_network(stranger.id).description == ""
    finally:
        cloud.network.delete_network(stranger)


def test_what_was_taken_out_of_the_state_is_adopted_and_nothing_is_made_twice(
    standing: Project, cloud: Connection, journal: Journal
) -> None:
    before, objects, since = _ids(standing), listing(cloud, "initech"), journal.now()
    standing.must(
        standing.run(
            "pulumi", "state", "delete", _urn(standing, SERVER), "--stack", STACK, "--yes", "--target-dependents"
        )
    )
    assert before.keys() - _ids(standing).keys() == {SERVER, ATTACHMENT}
    again = standing.must(_up(standing))
    assert changes(again)["created"] == 2, again.text
    assert _ids(standing) == before
    assert listing(cloud, "initech") == objects
    assert _asked(since) == []


def test_a_state_without_its_claims_is_refused(standing: Project, cloud: Connection, journal: Journal) -> None:
    objects, since = listing(cloud, "initech"), journal.now()
    with _state_put_back(standing):
        claims = _urn(standing, CLAIMS)
        single = standing.run("pulumi", "state", "delete", claims, "--stack", STACK, "--yes")
        assert single.code != 0  # everything rests on them
        standing.must(
            standing.run("pulumi", "state", "delete", claims, "--stack", STACK, "--yes", "--target-dependents")
        )
        assert _ids(standing) == {}
        refused = _up(standing)
        assert refused.code != 0
        assert "applied from another state: this one has none of its claims" in refused.text, refused.text
        assert "interlock recover initech" in refused.text
        # What is no more in the state, a `destroy` does not know of; the store goes on holding its claims.
        standing.must(standing.pulumi("destroy", STACK, "--yes"))
        assert _asked(since) == []
        assert listing(cloud, "initech") == objects


def test_what_changed_while_the_question_waited_is_not_applied(standing: Project, journal: Journal) -> None:
    before, since = _ids(standing), journal.now()
    terminal = Terminal.start(standing, "pulumi", "up", "--stack", STACK, "--color", "never")
    terminal.until("Do you want to perform this update?")
    standing.edit(REQUEST, *ONE_MORE_BUCKET)
    standing.must(standing.interlock("lock", "initech"))
    terminal.keys(YES)
    refused = terminal.end()
    assert refused.code != 0
    assert "what would be applied is not what the preview showed" in refused.text, refused.text
    assert _asked(since) == []
    assert _ids(standing) == before
    standing.edit(REQUEST, *reversed(ONE_MORE_BUCKET))
    standing.must(standing.interlock("lock", "initech"))


@pytest.fixture
def stranger(standing: Project, tmp_path: Path) -> Project:
    """A checkout that has not pulled, and gives another tenant what ours has."""
    project = Project.make(tmp_path / "stranger", standing.clouds_yaml)
    stacks = project.folder / "stacks"
    (stacks / "lyon/tenants/hooli.yaml").write_text(request_of("hooli"))
    project.must(project.interlock("lock", "hooli"))
    return project


def test_target_leaves_what_was_proved_and_an_old_state_is_refused(
    standing: Project, sandbox: Sandbox, stranger: Project, journal: Journal
) -> None:
    old, (first,) = _export(standing), _applied(sandbox)
    standing.edit(REQUEST, *ONE_MORE_BUCKET)
    standing.edit(REQUEST, *A_COPY_OF_THE_DATA)
    standing.must(standing.interlock("lock", "initech"))
    claims, bucket, since = _urn(standing, CLAIMS), _urn(standing, BUCKET).replace(BUCKET, MORE), journal.now()
    more = ("--target", bucket, "--target", bucket.replace("$interlock:index:Bucket::", "::"))

    without = _up(standing, *more)
    assert without.code != 0
    assert f"the claims of {STACK} are not in the store" in without.text, without.text
    assert _asked(since) == []

    # The new footprint is claimed, the bucket made; the volume stays as the old footprint has it, which counts on.
    partly = _up(standing, "--target", claims, *more)
    assert partly.code != 0
    assert "the footprint that was applied before stays claimed" in partly.text, partly.text
    assert MORE in _ids(standing)
    assert standing.objects(STACK)[VOLUME]["inputs"]["on_delete"] == "erase"
    kept, second = _applied(sandbox)
    assert kept == first
    unaware = stranger.interlock("check", "hooli", "--store")
    assert unaware.code == 1
    assert "hooli takes what initech holds" in unaware.text, unaware.text

    standing.must(_up(standing))
    assert _applied(sandbox) == [second]
    assert standing.objects(STACK)[VOLUME]["inputs"]["on_delete"] == "snapshot"

    since = journal.now()
    with _state_put_back(standing):
        _import(standing, old)
        refused = _up(standing)
        assert refused.code != 0
        assert f"applied from another state: this one is older, of footprint {first}" in refused.text, refused.text
        assert "interlock recover initech" in refused.text
    assert _asked(since) == []


def test_a_strangers_object_of_the_same_name_is_not_adopted(
    standing: Project, cloud: Connection, journal: Journal
) -> None:
    """Ours is deleted by hand, and one with its name put in its place, in our own project."""
    before = _ids(standing)
    project = before[PROJECT]
    for port in cloud.network.ports(project_id=project):
        if before[GROUP] in port.security_group_ids:
            cloud.network.update_port(port, security_groups=[])
    cloud.network.delete_security_group(before[GROUP])
    strangers = cloud.network.create_security_group(name=GROUP, project_id=project)
    try:
        since = journal.now()
        standing.refresh(STACK)
        assert _asked(since) == []
        assert GROUP not in _ids(standing)
        standing.must(_up(standing))
        assert _ids(standing)[GROUP] not in (before[GROUP], strangers.id)
        assert not any(strangers.id in path for _, path in _asked(since))
        assert cloud.network.get_security_group(strangers.id).description == ""
    finally:
        cloud.network.delete_security_group(strangers)


@pytest.fixture
def without_program(standing: Project, tmp_path: Path) -> Iterator[Project]:
    """The project with a program that only fails."""
    settings = standing.folder / "Pulumi.yaml"
    before = settings.read_text()
    (tmp_path / "__main__.py").write_text("raise SystemExit('nobody shall run this')\n")
    lines = [f"main: {tmp_path}" if line.startswith("main: ") else line for line in before.splitlines()]
    settings.write_text("\n".join(lines) + "\n")
    yield standing
    settings.write_text(before)


def test_destroy_stops_at_what_is_a_strangers_and_the_data_are_kept(
    without_program: Project, sandbox: Sandbox, cloud: Connection
) -> None:
    """It needs no program. What is refused says why, the rest is gone, and a second run ends it."""
    project, before = without_program, _ids(without_program)
    state = sandbox.dir / "state" / "cinder"
    with (state / "volumes" / before[VOLUME]).open("r+b") as file:
        file.seek(PLACE)
        file.write(WRITTEN)
    port = cloud.network.create_port(network_id=before[NETWORK], name="a-strangers-port")
    group = cloud.network.create_security_group(name="a-strangers-group", project_id=before[PROJECT])
    try:
        refused = project.pulumi("destroy", STACK, "--yes", "--continue-on-error")
        assert refused.code != 0
        assert f"Subnet {NETWORK}-subnet" in refused.text, refused.text
        assert "One or more ports have an IP allocation from this subnet" in refused.text
        assert cloud.network.get_port(port.id).name == "a-strangers-port"
        assert {NETWORK, PROJECT, CLAIMS} <= _ids(project).keys()
        (backup,) = cloud.block_storage.backups(all_projects=True, volume_id=before[VOLUME])
        assert f"its data are in backup {VOLUME} ({backup.id})" in refused.text, refused.text
        with (state / "backups" / backup.id).open("rb") as file:
            file.seek(PLACE)
            assert file.read(len(WRITTEN)) == WRITTEN

        cloud.network.delete_port(port)
        second = project.pulumi("destroy", STACK, "--yes")
        assert second.code != 0
        assert "still holds objects that this stack did not create: security group a-strangers-group" in second.text
        assert f"data that were kept: backup {VOLUME} ({backup.id})" in second.text
        assert cloud.network.get_security_group(group.id).name == "a-strangers-group"
        assert _ids(project).keys() == {PROJECT, CLAIMS}
    finally:
        _clear(cloud)
    project.must(project.pulumi("destroy", STACK, "--yes"))
    assert not any(listing(cloud, "initech").values())
    assert _applied(sandbox) == []
