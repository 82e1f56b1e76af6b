"""slurmdbd with the generated file: it takes all of it, up to the database, which these tests do not have."""

from __future__ import annotations

import re
from dataclasses import replace

from interlock.planning.scheduler import ClusterServer, Scheduler, files_of
from interlock.planning.scheduler.slurm import SLURMDBD_CONF, SLURMDBD_PASSWORD

from .clusters import WITH_FABRIC, RunningCluster

SPARE = ClusterServer("spare", "10.77.0.6")
CONF = files_of(Scheduler.SLURM, replace(WITH_FABRIC, accounting=SPARE), "spare")[SLURMDBD_CONF]


def told(cluster: RunningCluster, password: str | None, conf: str = CONF) -> str:
    """What slurmdbd writes within two seconds, with a line in the file of its password, or without that file."""
    server = cluster.hall.servers["spare"]
    folder = server.folder / "etc-slurm"
    texts = {SLURMDBD_CONF: conf} | ({} if password is None else {SLURMDBD_PASSWORD: password})
    paths = {folder / path.rsplit("/", 1)[1]: text for path, text in texts.items()}
    for file, text in paths.items():
        file.write_text(text, encoding="utf-8")
        file.chmod(0o600)
    server.say("chown", "slurm:", *(f"/etc/slurm/{file.name}" for file in paths))
    try:
        return server.run("timeout", "2", "slurmdbd", "-D", "-vvv").stderr
    finally:
        for file in paths:
            file.unlink()


def test_it_goes_as_far_as_the_database(on_fabric: RunningCluster) -> None:
    words = told(on_fabric, "StoragePass=not-a-secret\n")
    assert "mysql_connect() called for db slurm_train" in words
    assert "Can't connect to local server" in words
    assert "not-a-secret" not in words
    assert not re.search("Parsing error|lacks|invalid", words)


def test_it_waits_for_its_password(on_fabric: RunningCluster) -> None:
    words = told(on_fabric, None)
    assert f"cannot stat file {SLURMDBD_PASSWORD}" in words
    assert "mysql_connect" not in words


def test_a_word_that_it_does_not_know_is_told(on_fabric: RunningCluster) -> None:
    words = told(on_fabric, "StoragePass=x\n", CONF.replace("StorageLoc", "StoragePlace"))
    assert "Parsing error at unrecognized key: StoragePlace" in words
