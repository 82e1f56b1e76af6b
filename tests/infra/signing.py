"""Real keys and signatures of `ssh-keygen` for tests of signed evidence, made as people make them by hand."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.stack.signatures import Signatures, signatures_of
from interlock.model.evidence.signers import NAMESPACE
from interlock.model.load import Workspace
from tests.infra.conftest import Lyon
from tests.infra.evidence import of_machine
from tests.infra.test_settle_evidence import smaller  # noqa: F401

LIST = "signers"
ACME = "evidence/acme.yaml"
#: What acme gave up in these tests.
GIVEN_UP = ("ipum-03", "ipum-04")


@dataclass(frozen=True)
class SigningSite:
    """lyon with a list of who may sign, and a folder of private keys beside it."""

    lyon: Lyon
    keys: Path

    def key(self, name: str) -> Path:
        """Somebody's private key, made when it is first asked for."""
        file = self.keys / name
        if not file.exists():
            command: list[str | Path] = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", file]
            subprocess.run(command, check=True)
        return file

    def public(self, name: str) -> str:
        """Type and body of the public half."""
        return " ".join(self.key(name).with_name(f"{name}.pub").read_text().split()[:2])

    def line(self, name: str, options: str = "", key: str = "") -> str:
        """A line of the list. `key`: whose key it is, if not the principal's."""
        return " ".join(part for part in (name, options, self.public(key or name)) if part)

    def allow(self, *lines: str) -> None:
        self.lyon.file(LIST).write_text("".join(f"{line}\n" for line in lines))

    def write(self, entries: Iterable[Mapping[str, Any]], name: str = ACME, **changes: Any) -> Path:
        """A file of evidence about lyon."""
        file = self.lyon.file(name)
        file.parent.mkdir(exist_ok=True)
        document = {"site": "lyon", "released_by": "acme", **changes}
        document = {key: value for key, value in document.items() if value is not None}
        file.write_text(yaml.safe_dump(document | {"seen": [dict(entry) for entry in entries]}))
        return file

    def sign(self, file: Path, name: str, namespace: str = NAMESPACE) -> None:
        """As a person does it by hand, on the bytes that are there now."""
        command: list[str | Path] = ["ssh-keygen", "-Y", "sign", "-q", "-n", namespace, "-f", self.key(name)]
        made = subprocess.run(command, input=file.read_bytes(), capture_output=True, check=True).stdout
        file.with_name(f"{file.name}.sig").write_bytes(made)


def seen_by(name: str, *steps: str, **changes: Any) -> list[dict[str, Any]]:
    """Steps of what acme gave up, all of them by default, as seen by somebody just now."""
    found = [entry for machine in GIVEN_UP for entry in of_machine(machine, by=name, **changes)]
    return [entry for entry in found if not steps or entry["step"] in steps]


@pytest.fixture
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Outside of the site's folder, as people's keys are."""
    return tmp_path_factory.mktemp("keys")


@pytest.fixture
def signing(smaller: Lyon, keys: Path) -> SigningSite:  # noqa: F811
    """acme gave two machines up, and anne and bob may sign."""
    return lists_signers(smaller, keys)


def lists_signers(lyon: Lyon, keys: Path) -> SigningSite:
    lyon.replace("site.yaml", "evidence: {max_age: 30d}", f"evidence: {{max_age: 30d, signers: {LIST}}}")
    site = SigningSite(lyon, keys)
    site.allow(site.line("anne"), site.line("bob"))
    return site


def judged_by(workspace: Workspace) -> Signatures:
    """What judges the signatures of a site that lists who may sign."""
    found = signatures_of(workspace)
    assert found is not None
    return found
