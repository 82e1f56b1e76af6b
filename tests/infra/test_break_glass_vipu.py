"""A V-IPU user that is removed by the printed command: at the simulator, and found when the entry is closed."""

from __future__ import annotations

import json
from pathlib import Path

from tests.infra.conftest import Interlock
from tests.infra.test_audit_controllers import CONTROLLER, World, told, world
from tests.infra.test_break_glass import acts
from tests.support.cloud.by_hand import paste

__all__ = ["told", "world"]
USER = "acme-train-poplar-0"


def test_a_user_that_is_removed_by_hand_is_found_named_and_closed(
    world: World, interlock: Interlock, tmp_path: Path
) -> None:
    world.controllers.stands[CONTROLLER].write(folder=tmp_path)
    assert interlock("break-glass", "open", "acme", "--reason", "INC-1208: its key is known").code == 0
    # The two users of one vPOD have a name each: the other one stays.
    (act,) = (act for act in acts(interlock, "acme", f"{USER}-vipu") if act["act"] == "remove-vipu-user")
    assert interlock("break-glass", "close", "acme", "--dry-run").code == 0
    paste(act["commands"])
    judged = interlock("break-glass", "close", "acme", "--dry-run", "--json")
    assert judged.code == 1
    found = {item["object"]: item["verdict"] for item in json.loads(judged.out)["differences"]}
    # Its key, which waits for the server, is of no user any more.
    assert found == {f"VipuUser {USER}-vipu": "take over or undo", f"StoredCredential {USER}-vipu-key": "undo"}
    assert interlock("break-glass", "close", "acme", "--undo", "all").code == 0
    assert interlock("break-glass", "list").code == 0
