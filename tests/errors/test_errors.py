"""Every way to get an input file wrong, and the exact words that answer it.

A case is `<kind>/<name>.yaml` with the expected words beside it in `<name>.txt`:

tenant/  the case is the tenant's file
site/    `replace` and `by`: a piece of base/yard/site.yaml and what stands there instead; `inventory`: a file beside it
evidence/ the case is a file of evidence
seen/    good evidence of a switch is written, then `values` of it are changed and it is sealed again; or `replace` and
         `by` change its text; or `name` is another name of the file
switches/ the case is switches.yaml, beside files `key` (a secret) and `open` (which anybody may read)
fabrics/ the case is fabrics.yaml, beside the same files
lock/    a good lock of acme is written first, then `lock`, `request` or `site` is changed (`replace`, `by`),
         or the lock or the request is removed, or the lock is copied under another name
"""

from __future__ import annotations

import shutil
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
import yaml

from interlock.model.evidence.sealed_files import UNSEALED
from interlock.model.evidence.switch_file import SwitchEvidenceFile
from interlock.model.evidence.switch_reading import StatedOfSwitches, write_switch_evidence
from interlock.model.load import InputErrors, dump_lock, load_workspace, require_fresh_lock
from interlock.planning import SiteHashes, request_hash
from interlock.switches.loading import load_switches
from interlock.ufm.loading import load_fabrics
from tests.builders.pod64 import locked

HERE = Path(__file__).parent
KINDS = ("tenant", "site", "evidence", "seen", "switches", "fabrics", "lock")


def files(suffix: str) -> list[str]:
    """`<kind>/<name>` of every case that has a file with this suffix."""
    found = (path for kind in KINDS for path in (HERE / kind).glob(f"*{suffix}"))
    return sorted(path.relative_to(HERE).with_suffix("").as_posix() for path in found)


CASES = files(".yaml")


@pytest.mark.parametrize("case", CASES)
def test_error_says_what_is_expected(case: str, tmp_path: Path) -> None:
    stacks = tmp_path / "stacks"
    shutil.copytree(HERE / "base", stacks)
    with pytest.raises(InputErrors) as raised:
        APPLY[case.split("/", maxsplit=1)[0]](HERE / f"{case}.yaml", stacks)
    expected = (HERE / f"{case}.txt").read_text(encoding="utf-8")
    assert f"{raised.value}\n" == expected


def test_every_expected_text_has_a_case() -> None:
    assert files(".txt") == CASES


def test_base_is_right(tmp_path: Path) -> None:
    shutil.copytree(HERE / "base", tmp_path / "stacks")
    lock_acme(tmp_path / "stacks")
    check_lock(tmp_path / "stacks")


def apply_tenant(case: Path, stacks: Path) -> None:
    """Load with the case as acme's file."""
    shutil.copy(case, stacks / "yard/tenants/acme.yaml")
    load_workspace(stacks, "yard")


def apply_site(case: Path, stacks: Path) -> None:
    """Load with the site changed, and beside it the inventory of a hall if the case has one."""
    steps = yaml.safe_load(case.read_text(encoding="utf-8"))
    change(stacks / "yard/site.yaml", steps)
    if "inventory" in steps:
        (stacks / "yard/nodes.csv").write_text(steps["inventory"], encoding="utf-8")
    load_workspace(stacks, "yard")


def apply_evidence(case: Path, stacks: Path) -> None:
    """Load with the case as evidence."""
    folder = stacks / "yard/evidence"
    folder.mkdir()
    shutil.copy(case, folder / "acme.yaml")
    load_workspace(stacks, "yard")


def apply_seen(case: Path, stacks: Path) -> None:
    """Write evidence of the first switch, do what the case says, and load."""
    steps, site = yaml.safe_load(case.read_text(encoding="utf-8")), load_workspace(stacks, "yard").site
    switch = site.switches[0]
    stated = {
        "format": 1, "site": site.name, "switch": switch.name, "serial": switch.serial, "system_mac": None,
        "model": None, "read": "2026-11-23T10:05:00Z", "by": "Anne", "plans": {}, "ports": 34, "unheard": 0,
        "configuration": StatedOfSwitches(site).digest(switch), "result": "as stated", "digest": UNSEALED,
    }  # fmt: skip
    good = SwitchEvidenceFile.model_validate(stated | steps.get("values", {})).sealed()
    file = write_switch_evidence(stacks / "yard", good)
    if "replace" in steps:
        change(file, steps)
    file.rename(file.with_name(steps.get("name", file.name)))
    load_workspace(stacks, "yard")


def apply_switches(case: Path, stacks: Path) -> None:
    """Load with the case as switches.yaml of the working folder."""
    beside_secrets(case, stacks / "switches.yaml")
    with chdir(stacks):
        load_switches(Path("switches.yaml"))


def apply_fabrics(case: Path, stacks: Path) -> None:
    """Load with the case as fabrics.yaml of the working folder."""
    beside_secrets(case, stacks / "fabrics.yaml")
    with chdir(stacks):
        load_fabrics(Path("fabrics.yaml"))


def beside_secrets(case: Path, file: Path) -> None:
    """The case as this file, beside one that its owner alone may read, and one that anybody may."""
    shutil.copy(case, file)
    for name, mode in (("key", 0o600), ("open", 0o644)):
        (file.parent / name).touch()
        (file.parent / name).chmod(mode)


def apply_lock(case: Path, stacks: Path) -> None:
    """Lock acme, do what the case says, load and ask for the lock."""
    lock_acme(stacks)
    steps = yaml.safe_load(case.read_text(encoding="utf-8"))
    lock = stacks / "yard/tenants/acme.lock.json"
    files = {"lock": lock, "request": stacks / "yard/tenants/acme.yaml", "site": stacks / "yard/site.yaml"}
    for name in files.keys() & steps.keys():
        change(files[name], steps[name])
    if "remove" in steps:
        lock.unlink()
    if "remove_request" in steps:
        files["request"].unlink()
    if "copy" in steps:
        shutil.copy(lock, lock.with_name(f"{steps['copy']}.lock.json"))
    check_lock(stacks)


APPLY = {
    "tenant": apply_tenant,
    "site": apply_site,
    "evidence": apply_evidence,
    "seen": apply_seen,
    "switches": apply_switches,
    "fabrics": apply_fabrics,
    "lock": apply_lock,
}


def change(file: Path, step: dict[str, Any]) -> None:
    """Replace the one place where the text stands."""
    text = file.read_text(encoding="utf-8")
    assert text.count(step["replace"]) == 1
    file.write_text(text.replace(step["replace"], step["by"]), encoding="utf-8")


def lock_acme(stacks: Path) -> None:
    """Write the lock that acme would get."""
    workspace = load_workspace(stacks, "yard")
    dump_lock(locked(workspace.site, workspace.tenants["acme"]), workspace.lock_file("acme"))


def check_lock(stacks: Path) -> None:
    """Load, and ask for a lock that fits request and site."""
    workspace = load_workspace(stacks, "yard")
    slices = SiteHashes(workspace.site)
    require_fresh_lock(workspace, "acme", request_hash(workspace.tenants["acme"]), slices.slice_hash)
