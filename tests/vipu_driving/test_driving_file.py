"""`vipu.yaml`, keys for servers, replacements, and what a preflight tells."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from interlock.model.text.errors import InputErrors
from interlock.provider.actuators import Observed, Phase, Target
from interlock.provider.errors import Failure, refused
from interlock.provider.preflight.vipu import controllers
from interlock.provider.redaction import REDACTOR
from interlock.provider.vipu import Controllers
from interlock.provider.vipu_keys import settings_with_new_key
from interlock.provider.vipu_replacing import check_replaced
from interlock.vipu.client import ControllerClient
from interlock.vipu.errors import VipuError
from interlock.vipu.flags import WORDS, VipuSpelling
from interlock.vipu.loading import ControllerMachine, load_vipu
from interlock.vocabulary.pair_ids import VipuId
from sandbox.vipu.access import VipuAccess
from sandbox.vipu.controller import ControllerSettings
from sandbox.vipu.flags import FLAGS
from sandbox.vipu.refusals import VipuRefused
from sandbox.vipu.scene import Call
from tests.ufm.conftest import AT_ONCE
from tests.vipu.desk import AT_ONCE as DONE_AT_ONCE

from .stand import SERVER, Stand
from .vpod import OWNER, Vpod, planned

_LOCAL = "controllers:\n  default:\n    run: local\n"
_SSH = "controllers:\n  default:\n    run: ssh\n    ssh: {username: op, key_file: k, known_hosts: h}\n"


def _file(folder: Path, text: str) -> Path:
    for name in ("k", "h"):
        (folder / name).write_text("")
        (folder / name).chmod(0o600)
    (folder / "vipu.yaml").write_text(text)
    return folder / "vipu.yaml"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("controllers:\n  default:\n    run: ssh\n", "`run: ssh` is there without `ssh`"),
        (_SSH.replace("run: ssh", "run: local"), "`ssh` is there beside `run: local`"),
        (_LOCAL + "    command: ['{uuid}']\n", "`{uuid}` has a placeholder that there is not"),
        (_LOCAL + "    flags: {colour: --x}\n", "`colour` is no flag that is used"),
        (_LOCAL + "    flags: {size: 'x;y'}\n", "`x;y` is no flag"),
        (_LOCAL + "    flags: {allocations: ''}\n", "`allocations` is left out, and without it"),
        (_LOCAL + "    command: []\n", "`command` has no words"),
        (_LOCAL + "    machine: {storage: var/lib/vipu}\n", "`var/lib/vipu` is no folder"),
        (_LOCAL + "    machine: {backup: '/b/{uuid}'}\n", "`/b/{uuid}` has a placeholder that there is not"),
        (_LOCAL + "    machine: {storage: /v, backup: /v/}\n", "`backup` is the folder of `storage`"),
        (_SSH.replace("key_file: k", "key_file: none"), "there is no file"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(InputErrors) as caught:
        load_vipu(_file(tmp_path, text))
    assert told in str(caught.value)
    assert "vipu.yaml:" in str(caught.value)


def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    file = _file(tmp_path, _SSH)
    assert load_vipu(file).controllers["default"].hops[0].host == "{address}"
    (tmp_path / "k").chmod(0o644)
    with pytest.raises(InputErrors, match="others than its owner may read"):
        load_vipu(file)


def test_placeholders_are_filled_or_told(tmp_path: Path) -> None:
    jump = _SSH.replace("known_hosts: h}", "known_hosts: h, jump: {host: bastion}}")
    found = load_vipu(_file(tmp_path, jump + "    config: '/etc/{name}/{server}.hcl'\n")).of("acme-train-controller")
    assert found is not None
    filled = found.of(SERVER, "acme-train-controller", "10.0.0.5")
    assert [hop.host for hop in filled.hops] == ["bastion", "10.0.0.5"]
    assert filled.config == f"/etc/acme-train-controller/{SERVER}.hcl"
    machine = "    machine: {command: [in, '{name}'], backup: '/srv/{name}'}\n"
    read = load_vipu(_file(tmp_path, _LOCAL + machine)).of("acme-train-controller")
    assert read is not None
    assert read.of("", "acme-train-controller", "").machine == ControllerMachine(
        ("in", "acme-train-controller"), None, "/srv/acme-train-controller"
    )
    with pytest.raises(VipuError, match=r"\{address\} stands at .*vipu\.yaml:3:5, and is not known"):
        found.of(SERVER, "acme-train-controller", "")


def test_flags_are_spelt_as_the_release_has_them() -> None:
    """And what is called verified here the simulator knows under the same name."""
    spelling = VipuSpelling({"size": "--ipus", "no-wait": "--no-wait", "reconfigurable": ""})
    assert spelling.flag("size", "8") == ("--ipus", "8")
    assert spelling.flag("no-wait") == ("--no-wait",)
    assert spelling.flag("reconfigurable") == ()
    known = {flag.name for flag in FLAGS if not flag.source.unverified}
    assert not {word.usual for word in WORDS if word.source and word.usual.startswith("--")} - known


def test_a_server_gets_settings_with_a_key_that_counts_alone(stand: Stand) -> None:
    vpod = Vpod(stand)
    vpod.controller = stand.controller(REDACTOR.add)
    vpod.up(planned())
    cloud = vpod.cloud()
    cloud.controllers._places[SERVER] = ("acme-train-controller", "10.30.0.5")
    text = settings_with_new_key(cloud, VipuId(SERVER, "user", "poplar-0"), "poplar")
    lines = dict(line.split("=", 1) for line in text.splitlines())
    key = lines.pop("api-access-key").strip('"')
    assert lines == {"api-host": '"10.30.0.5"', "api-port": "8090", "api-user-id": '"poplar-0"'}
    assert key not in REDACTOR.redact(f"it said {key}")
    assert key not in str(vpod.state)
    stand.desk.controller.settings = ControllerSettings(durations=DONE_AT_ONCE, secure=True)
    stand.desk.controller.answer(Call("list", "partition"), VipuAccess("user", "poplar-0", key))
    with pytest.raises(VipuRefused):
        stand.desk.controller.answer(Call("list", "partition"), VipuAccess("user", "poplar-0", f"{key}x"))


def test_a_replacement_ends_only_what_may_end(stand: Stand) -> None:
    vpod, plan, may = Vpod(stand), planned(), planned(replaceable=True)
    vpod.up(plan)
    stand.desk.do("remove partition p")
    stand.desk.do("create partition job-1 --size 4 --allocation train")
    cloud = vpod.cloud()

    def check(name: str, new: dict[str, Any], phase: Phase = Phase.READY, *, beside: str = "") -> None:
        target: Any = _target(vpod, plan, name)
        seen = Observed(vpod.state[name][0], "", phase=phase)
        check_replaced(cloud, vpod.admission(new), {name, beside}, target, seen)

    with pytest.raises(Failure, match="VipuPartition p would be recreated") as caught:
        check("p", plan)
    assert "replaceable: true" in caught.value.hint
    with pytest.raises(Failure, match="with partitions that users made: job-1"):
        check("allocation", plan)
    check("p", plan, Phase.BROKEN)
    check("p", may)
    check("allocation", may)
    check("cluster", plan)
    # A user goes first of all: with it goes the key by which somebody could remove that partition.
    with pytest.raises(Failure, match=r"VipuAllocation allocation would be recreated, with partitions .*: job-1"):
        check("user", plan, beside="allocation")
    check("user", may, beside="allocation")
    check("user", plan)
    # So may be what a request had until now, and the engine has not deleted yet.
    stand.desk.do("remove partition job-1")
    del vpod.state["p"]
    vpod.up(plan, "p")
    without = {key: value for key, value in plan.items() if key != "p"}
    with pytest.raises(Failure, match="with partitions that users made: p") as caught:
        check("user", without, beside="allocation")
    assert "also one that the request had until now" in caught.value.hint


def test_a_partition_of_which_nobody_says_whose_it_is_may_be_a_users(stand: Stand, monkeypatch: Any) -> None:
    """A release may not say in which allocation one is: it neither ends unasked, nor stays behind as nobody's."""
    vpod, plan = Vpod(stand), planned()
    vpod.up(plan)
    stand.desk.do("remove partition p")
    stand.desk.do("create partition job-1 --size 4 --allocation train")
    listed = ControllerClient.partitions
    monkeypatch.setattr(
        ControllerClient, "partitions",
        lambda self: {name: replace(item, allocation=None) for name, item in listed(self).items()},
    )  # fmt: skip
    seen = Observed(vpod.state["allocation"][0], "")
    with pytest.raises(Failure, match="with partitions that users made: job-1"):
        check_replaced(vpod.cloud(), vpod.admission(plan), {"allocation"}, _target(vpod, plan, "allocation"), seen)
    vpod.destroy()
    assert not stand.desk.controller.state.partitions


def _target(vpod: Vpod, plan: dict[str, Any], name: str) -> Any:
    item = vpod.declared(plan, name)
    return Target(name, OWNER, item.spec, item.ids)


def test_a_command_that_is_not_here_is_not_waited_for(tmp_path: Path) -> None:
    """A controller may still start; what nobody installed on this machine does not come by waiting."""
    known = load_vipu(_file(tmp_path, _LOCAL + "    command: [/nowhere/vipu-admin]\n"))
    waits: list[float] = []
    controllers = Controllers(replace(AT_ONCE, sleep=waits.append), lambda: known)
    with pytest.raises(VipuError, match="/nowhere/vipu-admin cannot be started here"):
        controllers.started(SERVER, controllers.of(SERVER, "acme-train-controller"))
    assert not waits


def test_what_a_tenant_calls_an_object_moves_no_cursor() -> None:
    """Nor is it what no message can carry: half a character."""
    assert refused("in use by partition a\x1b[2J,\nb\udc80 é").message == "in use by partition a\\x1b[2J,\nb\\udc80 é"


def test_a_preflight_names_controllers_without_a_way(stand: Stand, tmp_path: Path) -> None:
    vpod, plan = Vpod(stand), planned()
    cloud, file = vpod.cloud(), _file(tmp_path, _LOCAL.replace("default", "another"))
    cloud.controllers = Controllers(AT_ONCE, lambda: load_vipu(file))
    (fault,) = [*controllers(cloud, _only(vpod, plan))]
    assert "does not say how V-IPU controller acme-train-controller is reached" in fault.message
    file.write_text(_LOCAL)
    cloud.controllers = Controllers(AT_ONCE, lambda: load_vipu(file))
    assert [*controllers(cloud, _only(vpod, plan))] == []
    file.unlink()
    cloud.controllers = Controllers(AT_ONCE, lambda: load_vipu(file))
    (fault,) = [*controllers(cloud, _only(vpod, plan))]
    assert "there is no such file" in fault.message


def _only(vpod: Vpod, plan: dict[str, Any]) -> Any:
    admission = vpod.admission(plan)
    return admission.model_copy(update={"resources": admission.resources[:-1]})
