"""What can go wrong between the provider and a V-IPU controller's commands, one line each."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace

from tests.faults.proxy import Act, Request, Response
from tests.faults.table import Fault, half, lost, reset
from tests.support.paper.vpod import PaperVpod

#: Seconds for which a command that hangs is waited for here.
HANGING = 4.0


def ended(code: int, out: str = "", err: str = "") -> Act:
    """A command that ends so, whatever the controller has done."""
    body = json.dumps({"code": code, "out": out, "err": err, "files": {}}).encode()
    return lambda request, ask: Response(200, (), body)


def hangs(request: Request, ask: Callable[[], Response]) -> Response:
    time.sleep(1.5 * HANGING)
    return Response(0, cut=0)


def half_said(request: Request, ask: Callable[[], Response]) -> Response:
    """The command ends well, and its output breaks off."""
    whole = ask()
    said = json.loads(whole.body)
    return replace(whole, body=json.dumps(said | {"out": said["out"][: len(said["out"]) // 2]}).encode())


def restarts(vpod: PaperVpod) -> Act:
    """The controller ends before the command gets to it, and is there again a moment later."""

    def act(request: Request, ask: Callable[[], Response]) -> Response:
        vpod.controllers.restart(vpod.server)
        return ended(1, err="UNAVAILABLE: connection refused")(request, ask)

    return act


def vipu_faults(vpod: PaperVpod | None) -> dict[str, Fault]:
    """By name; without a vPOD to name them."""
    failed = ended(1, err="UNAVAILABLE: deadline exceeded")
    denied = ended(1, err="PERMISSION_DENIED: user 'root' may not do this")
    banner = ended(0, out="V-IPU commands 1.18\n")
    other = ended(0, out='{"status": "ok"}\n')
    of_user = ended(0, out='[{"id": "x"}]\n')
    back = reset if vpod is None else restarts(vpod)
    return {
        "answer lost": Fault("the connection breaks", reset, lost(reset)),
        "half an answer": Fault("the connection breaks in the middle", None, half),
        "failed": Fault("the command says that it failed", failed, lost(failed)),
        "denied": Fault("the controller refuses this user", denied),
        "no command": Fault("there is no such program", ended(127, err="vipu-admin: not found")),
        "hangs": Fault("the command does not end in time", hangs, lost(hangs)),
        "half said": Fault("the output breaks off", None, half_said),
        "says nothing": Fault("it ends well and says nothing", ended(0), lost(ended(0))),
        "no JSON": Fault("it ends well, with a text", banner, lost(banner)),
        "other JSON": Fault("it ends well, with an object of something else", other, lost(other)),
        "odd list": Fault("it ends well, with a list of something else", of_user, lost(of_user)),
        "restarts": Fault("the controller is restarted", back, lost(back)),
    }
