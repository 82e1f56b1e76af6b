"""Credentials: SEC-04 none is in user data, however it is packed; SEC-12 each vPOD has an S3 account of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from policies.about import SaidFact, components, resources
from policies.facts.controllers import ControllerFacts, controllers_read
from policies.facts.kinds import PlanFacts, ServerFact
from policies.facts.user_data import Contents, contents
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .controller_access import read_cause
from .rule import Cause, Of, Polarity, Rule, RuleAnswer, unique

# SEC-04


@dataclass(frozen=True)
class Pattern:
    """How one kind of credential looks, and where that is written."""

    what: str
    source: str
    looks: re.Pattern[str]


def _pattern(what: str, source: str, looks: str) -> Pattern:
    """`looks`: in any case, `^` at the beginning of each line."""
    return Pattern(what, source, re.compile(f"(?im){looks}"))


#: A value behind a key of a YAML, shell, HCL or ini line; `${…}` and `{{ … }}` stand for one and are none.
_VALUE = r"""["']?[ \t]*[:=][ \t]*["']?(?!\$\{|\{\{|["']|\s)\S"""

#: What a credential looks like in a text. A hash of a password counts: it can be tried offline.
CREDENTIALS: tuple[Pattern, ...] = (
    _pattern("private key", "RFC 7468, textual encodings", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----"),
    _pattern("private key", "OpenSSH, PROTOCOL.key", r"openssh-key-v1"),
    _pattern("AWS access key id", "AWS IAM user guide, unique identifiers", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    _pattern("secret key", "AWS CLI, aws_secret_access_key", rf"\b(?:aws_)?secret(?:_access)?_key{_VALUE}"),
    _pattern("password", "cloud-init, users; keystoneauth", rf"(?:^|[\s_\-{{,\"'])(?<!lock_)passw(?:or)?d{_VALUE}"),
    _pattern("passwords of users", "cloud-init, set passwords", r"""(?:^|[\s{,"'])chpasswd["']?\s*:"""),
    _pattern("hashed password", "cloud-init, users and groups", rf"\b(?:hashed_passwd|plain_text_passwd){_VALUE}"),
    _pattern(
        "application credential",
        "keystoneauth, OS_APPLICATION_CREDENTIAL_SECRET",
        rf"application_credential_secret{_VALUE}",
    ),
    _pattern("bearer token", "RFC 6750", r"\bBearer\s+[A-Za-z0-9._~+/-]{8,}"),
    _pattern("token", "keystoneauth, OS_TOKEN", rf"\b(?:os|auth|access|api)_token{_VALUE}"),
    _pattern("V-IPU access key", "Graphcore, V-IPU user guide, --api-access-key", rf"\bapi[-_]access[-_]key{_VALUE}"),
    _pattern("address with a password", "RFC 3986 §3.2.1", r"\b[a-z][a-z0-9+.-]{0,30}://[^\s/:@]+:[^\s/@]+@"),
)


@dataclass(frozen=True)
class Hidden:
    """A credential: the line of the document, the layers that it is wrapped in, and its kind. Never the text itself."""

    line: int
    layers: tuple[str, ...]
    pattern: Pattern

    @property
    def place(self) -> str:
        """Where it is, in words."""
        return ", ".join((f"line {self.line}", *(f"in {layer}" for layer in self.layers)))


def credentials_in(found: Contents) -> Iterator[Hidden]:
    """Each credential in a text, also in what is packed into it."""
    told: set[tuple[str, str]] = set()
    for piece in found.pieces:
        for pattern in CREDENTIALS:
            for match in pattern.looks.finditer(piece.text):
                key = (pattern.what, match.group().strip())
                # A MIME part or a value says again what stands in the text, and a block what stands in its lines.
                if key not in told or not piece.layers:
                    inside = 0 if piece.layers else piece.text.count("\n", 0, match.end())
                    yield Hidden(piece.line + inside, piece.layers, pattern)
                told.add(key)


def _no_credentials(model: Model, _: Names) -> RuleAnswer:
    servers = [(server, contents(server.user_data)) for server in model.plan.servers if server.user_data]
    causes = [cause for server, found in servers for cause in _found(server, found)]
    causes += [cause for item in controllers_read(model.plan, model.site) for cause in _read(model.plan, item)]
    closed = tuple(_closed(server, line, why) for server, found in servers for line, why in found.closed)
    return RuleAnswer(len(servers), tuple(unique(causes)), closed)


def _found(server: ServerFact, found: Contents) -> Iterator[Cause]:
    for item in credentials_in(found):
        what = item.pattern.what
        yield Cause(
            key=(server.name, item.line, what),
            message=f"the user data of {server.name} holds a {what} ({item.place})",
            witness=(f"server {server.name}", f"user data, {item.place}", f"{what} ({item.pattern.source})"),
            hint="user data is readable in the server by everybody; hand the secret over as a secret output",
            specificity=80,
            about=resources(server.name),
        )


def _read(plan: PlanFacts, item: ControllerFacts) -> Iterator[Cause]:
    """A key in what a controller's machine was given, which may be another document than the plan's."""
    if item.last is not None and item.last.user_data_clean is False:
        yield read_cause(plan, item, "has a key in the user data on its machine")


def _closed(server: ServerFact, line: int, why: str) -> Cause:
    return Cause(
        key=(server.name, line, why),
        message=f"whether the user data of {server.name} holds a credential is unknown (line {line}): {why}",
        witness=(f"server {server.name}", f"user data, line {line}", why),
        hint="write it as plain text, or fetch it from a place that asks who is there",
        missing=(SaidFact(f"what line {line} of the user data of {server.name} holds"),),
        specificity=50,
        about=resources(server.name),
    )


# SEC-12


def _accounts(model: Model, _: Names) -> RuleAnswer:
    plan, belongs = model.plan, dict(model.plan.access.vpods)
    causes = [_no_account(vpod.name) for vpod in plan.vpods if not _has_account(plan, vpod.name, belongs)]
    causes += [
        _shared_account(key.name, key.user, str(belongs[key.user]))
        for key in plan.credentials
        if key.user in belongs and belongs[key.user] != belongs.get(key.name)
    ]
    return RuleAnswer(len(plan.vpods) + len(plan.credentials), tuple(causes))


def _has_account(plan: PlanFacts, vpod: str, belongs: dict[str, str | None]) -> bool:
    """A user of its own with a key."""
    users = {user.name for user in plan.users if belongs.get(user.name) == vpod}
    return any(key.user in users for key in plan.credentials)


def _no_account(vpod: str) -> Cause:
    return Cause(
        key=vpod,
        message=f"vPOD {vpod} has no S3 account of its own, so its servers use another's key",
        witness=(f"vPOD {vpod}", "no service user with a key"),
        hint="one service user and one key for each vPOD",
        specificity=34,
        about=components(vpod),
    )


def _shared_account(key: str, user: str, vpod: str) -> Cause:
    return Cause(
        key=key,
        message=f"key {key} is for {user}, the account of vPOD {vpod}",
        witness=(f"key {key}", f"user {user}", f"vPOD {vpod}"),
        hint="one service user and one key for each vPOD",
        specificity=34,
        about=(*resources(key, user), *components(vpod)),
    )


SEC_04 = Rule(
    id="SEC-04",
    title="no server has a credential in its user data",
    severity=Severity.BLOCK,
    polarity=Polarity.ABSENCE,
    why="user data is served to every process in the server, and kept in plain text by cloud and state",
    source="docs/design/semantics.md §6, Auth: a server has everything in its user data; each pattern names its own;"
    " what cloud-init unpacks: its manual, user data formats and write_files",
    needs=("user data of servers", "readings of controllers"),
    ask=_no_credentials,
)
SEC_12 = Rule(
    id="SEC-12",
    title="each vPOD has an S3 account of its own",
    severity=Severity.ERROR,
    polarity=Polarity.STATED,
    why="a key that two vPODs share cannot be taken from one of them, and no log says whose call it was",
    source="reference design, storage: S3 accounts for each vPOD",
    needs=("service users", "S3 keys", "vPODs"),
    ask=_accounts,
    of=Of.TENANT,
)
