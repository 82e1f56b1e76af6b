"""What a person may do by hand when it cannot wait: exact commands of the services themselves, which only take away.

No act joins anything: none makes an object, gives a right, opens a port, or puts a port, a GUID, an address or a VLAN
anywhere. A server, port or router that is started or attached again is so where the plan has it.

Sources: OpenStackClient, "Command List" (compute, network, volume, identity, shared file system, bare metal); Arista,
EOS User Manual, "Data Transfer"; NVIDIA, NVUE reference, "Interface"; NVIDIA, UFM Enterprise REST API, "PKey GUIDs".
What V-IPU's commands are called, and which of it no public source has, is in `interlock.vipu.flags`.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from infra.reports.wiring_text import Syntax, is_pasteable
from interlock.resources import (
    BareMetalServer,
    FloatingIp,
    PartitionKey,
    Project,
    RoleAssignment,
    S3Credential,
    SecurityGroup,
    Server,
    ServiceUser,
    ShareAccess,
    SwitchPort,
    VipuPartition,
    VipuUser,
    VolumeAttachment,
)
from interlock.ufm.client import IN_PATH
from interlock.vipu.commands import VipuLines
from interlock.vipu.errors import VipuError
from interlock.vipu.flags import VipuSpelling
from interlock.vipu.loading import COMMAND, USER_COMMAND, ControllerAccess, VipuRead
from interlock.vocabulary import Reference, Scheme
from interlock.vocabulary.pair_ids import CredentialId, RoleAssignmentId
from interlock.vocabulary.persons import Person
from interlock.vocabulary.references import OPERATOR_USER

from .known import KnownObject, KnownStack
from .manual_act import LESS, NONE, FoundBy, ManualAct, made_again


@dataclass(frozen=True)
class ActsOf:
    """The acts for one stack. `syntax`: switch -> the language of its console; `controllers`: how those of V-IPU are
    reached.
    """

    known: KnownStack
    syntax: Mapping[str, Syntax]
    controllers: VipuRead | None = None

    def all(self) -> Iterator[ManualAct]:
        """Every act, in the order of the stack's objects."""
        for item in self.known.objects:
            if item.kind in _ACTS:
                yield from _ACTS[item.kind](self, item)

    def commands(self, command: str, **names: str) -> tuple[str, ...]:
        """A command with ids in it. `names`: word of the command, which is the kind in small letters -> plan name.

        Where no state has the id, it is asked for by the name. Names are no authority: if none or several objects have
        it, the command stops instead of meaning something else.
        """
        asked: list[str] = []
        words: dict[str, str] = {}
        for word, name in names.items():
            item = self.known.by_name.get(name)
            if item is not None and item.id:
                words[word] = shlex.quote(item.id)
            else:
                question = _ASK[word].format(name=shlex.quote(name), exact=shlex.quote(f"^{name}$"))
                asked.append(f'{word.upper()}="$({question})"')
                words[word] = f'"${{{word.upper()}:?not found}}"'
        return (*asked, command.format(**words))

    def access(self, spec: VipuUser | VipuPartition) -> ControllerAccess | None:
        """How the object's controller is reached; None if no file says it, or it needs what is not known."""
        found = self.controllers.of(spec.controller) if self.controllers is not None else None
        server = self.known.by_name.get(spec.controller)
        try:
            return found and found.of(server.id if server is not None else "", spec.controller, spec.address)
        except VipuError:
            return None

    def name_of(self, reference: str) -> str:
        """What Keystone calls a project or service user of the plan; of another stack's object its plan name."""
        item = self.known.by_name.get(reference)
        return str(getattr(item.spec, "name", reference)) if item is not None else Reference.parse(reference).name

    def first(self, item: KnownObject) -> tuple[str, ...]:
        """The way back of what a refresh of the whole stack cannot do without."""
        again = made_again(self.known.stack, (item.kind, item.name))
        return ("# once the entry is closed, before any other refresh:", *again)

    def domain_of(self, project: str) -> str:
        """The option that says in which Keystone domain a project of this name is: names are of one domain only.

        Of a project that no file here states it is asked of whoever runs the command.
        """
        item = self.known.by_name.get(project)
        spec = item.spec if item is not None else None
        domain = shlex.quote(spec.domain) if isinstance(spec, Project) else '"${PROJECT_DOMAIN:?not set}"'
        return f"--project-domain {domain} "


#: Word of a command -> how the id is asked for.
_ASK = {
    "server": "openstack server list --all-projects --name {exact} -f value -c ID",
    "port": "openstack port list --name {name} -f value -c ID",
    "router": "openstack router list --name {name} -f value -c ID",
    "volume": "openstack volume list --all-projects --name {name} -f value -c ID",
    "share": "openstack share list --all-projects --name {name} -f value -c ID",
    "group": "openstack security group list -f value -c ID -c Name | awk -v n={name} '$2 == n {{print $1}}'",
}


def _server(acts: ActsOf, item: KnownObject) -> Iterator[ManualAct]:
    if not isinstance(item.spec, Server):
        return
    on, off = (f"openstack server {verb} {{server}}" for verb in ("start", "stop"))
    yield ManualAct(
        "stop-server", item.kind, (item.name,), acts.commands(off, server=item.name),
        "shuts the server down as its power button does; what runs on it ends, its disks and ports stay", NONE,
        acts.commands(on, server=item.name), FoundBy.CLOSE,
    )  # fmt: skip
    for name in item.spec.ports:
        plug, unplug = (f"openstack server {verb} port {{server}} {{port}}" for verb in ("add", "remove"))
        yield ManualAct(
            "detach-port", "Port", (name, item.name), acts.commands(unplug, server=item.name, port=name),
            "takes the server off this one network while it runs; Neutron keeps the port and its address", LESS,
            acts.commands(plug, server=item.name, port=name), FoundBy.AUDIT,
        )  # fmt: skip


def _bare_metal(_: ActsOf, item: KnownObject) -> Iterator[ManualAct]:
    if isinstance(item.spec, BareMetalServer):
        node = shlex.quote(item.spec.node)
        yield ManualAct(
            "power-off", item.kind, (item.name,), (f"openstack baremetal node power off {node}",),
            "cuts the power of the whole host; what runs on it ends, what was not written to disk is lost", NONE,
            (f"openstack baremetal node power on {node}",), FoundBy.CLOSE,
        )  # fmt: skip


def _attachment(acts: ActsOf, item: KnownObject) -> Iterator[ManualAct]:
    if not isinstance(item.spec, VolumeAttachment):
        return
    server, volume = item.spec.server, item.spec.volume
    plug, unplug = (f"openstack server {verb} volume {{server}} {{volume}}" for verb in ("add", "remove"))
    yield ManualAct(
        "detach-volume", item.kind, (volume, server, item.name), acts.commands(unplug, server=server, volume=volume),
        "takes the disk out of the server; unmount it there first, or what was not written is lost", LESS,
        acts.commands(plug, server=server, volume=volume), FoundBy.AUDIT,
    )  # fmt: skip


def _router(acts: ActsOf, item: KnownObject) -> Iterator[ManualAct]:
    on, off = (f"openstack router set --{word} {{router}}" for word in ("enable", "disable"))
    yield ManualAct(
        "stop-router", item.kind, (item.name,), acts.commands(off, router=item.name),
        "nothing is forwarded by it any more, in or out, floating IPs included; servers of one network still reach "
        "each other", LESS, acts.commands(on, router=item.name), FoundBy.CLOSE,
    )  # fmt: skip


def _floating(_: ActsOf, item: KnownObject) -> Iterator[ManualAct]:
    if isinstance(item.spec, FloatingIp) and item.id:
        address = shlex.quote(item.id)
        yield ManualAct(
            "take-off-floating-ip", item.kind, (item.name, item.spec.port),
            (f"openstack floating ip unset --port {address}",),
            "the port is reached from outside no more; the tenant keeps the address", LESS, (), FoundBy.AUDIT,
        )  # fmt: skip


def _group(acts: ActsOf, item: KnownObject) -> Iterator[ManualAct]:
    if not isinstance(item.spec, SecurityGroup) or all(rule.direction == "egress" for rule in item.spec.rules):
        return
    listed = "openstack security group rule list --ingress -f value -c ID {group}"
    yield ManualAct(
        "close-ingress", item.kind, (item.name,),
        acts.commands(f"{listed} | xargs -r -n 1 openstack security group rule delete", group=item.name),
        "nothing new comes in to any port of the group; it does nothing at ports of type direct or baremetal", LESS,
        (), FoundBy.AUDIT,
    )  # fmt: skip


def _s3_key(acts: ActsOf, item: KnownObject) -> Iterator[ManualAct]:
    if not isinstance(item.spec, S3Credential) or item.spec.opens != "s3":
        return
    asked: tuple[str, ...] = ()
    if item.id:
        parts = CredentialId.parse(item.id)
        words = f"--user {shlex.quote(parts.user)} {shlex.quote(parts.access)}"
    else:
        user = acts.known.by_name.get(item.spec.user)
        domain = user.spec.domain if user is not None and isinstance(user.spec, ServiceUser) else "default"
        of_user = f"--user {shlex.quote(acts.name_of(item.spec.user))} --user-domain {shlex.quote(domain)}"
        words = f'{of_user} "${{KEY:?not found}}"'
        asked = (f'KEY="$(openstack ec2 credentials list {of_user} -f value -c Access)"',)
    yield ManualAct(
        "revoke-s3-key", item.kind, (item.name, item.spec.user),
        (*asked, f"openstack ec2 credentials delete {words}"),
        "the key opens nothing any more, for good; what rests on it cannot be read until there is another one", LESS,
        acts.first(item), FoundBy.AUDIT,
    )  # fmt: skip


def _role(acts: ActsOf, item: KnownObject) -> Iterator[ManualAct]:
    spec = item.spec
    if not isinstance(spec, RoleAssignment) or spec.user == OPERATOR_USER:
        return
    if item.id:
        parts = RoleAssignmentId.parse(item.id)
        words: tuple[tuple[str, str], ...] = (("--user", parts.user), ("--project", parts.project), ("", parts.role))
    elif Reference.scheme_of(spec.user) is Scheme.CLOUD:
        person = Person.parse(Reference.parse(spec.user).name)
        of_user = (("--user", person.name), ("--user-domain", person.domain))
        words = (*of_user, ("--project", acts.name_of(spec.project)), ("", acts.name_of(spec.role)))
    else:
        return
    said = " ".join(f"{option} {shlex.quote(word)}".strip() for option, word in words)
    where = "" if item.id else acts.domain_of(spec.project)
    back = () if Reference.scheme_of(spec.user) is Scheme.CLOUD else acts.first(item)
    yield ManualAct(
        "take-role", item.kind, (item.name, spec.user), (f"openstack role remove {where}{said}",),
        "this user has no right to the project any more", LESS, back, FoundBy.AUDIT,
    )  # fmt: skip


def _share(acts: ActsOf, item: KnownObject) -> Iterator[ManualAct]:
    if isinstance(item.spec, ShareAccess) and item.id:
        delete = f"openstack share access delete {{share}} {shlex.quote(item.id)}"
        yield ManualAct(
            "close-share", item.kind, (item.name, item.spec.share),
            acts.commands(delete, share=item.spec.share),
            "the network behind the rule mounts the share no more; servers that have it mounted hang on it", LESS, (),
            FoundBy.AUDIT,
        )  # fmt: skip


def _switch_port(acts: ActsOf, item: KnownObject) -> Iterator[ManualAct]:
    if not isinstance(item.spec, SwitchPort):
        return
    port, syntax = item.spec, acts.syntax.get(item.spec.switch)
    lines = _CONSOLE[syntax] if syntax is not None and port.port_name and is_pasteable(port.port_name) else None
    named = port.port_name or f"port {port.port}"
    down, up = (
        (tuple(line.format(port=port.port_name) for line in half) for half in lines)
        if lines is not None
        else ((f"# shut {named}",), (f"# enable {named} again",))
    )
    again = " Neutron's driver enables it again when it next binds the port." if port.wired_by == "neutron" else ""
    yield ManualAct(
        "shut-switch-port", item.kind, (item.name, port.device), down,
        f"interface {port.interface} of {port.device} is off the wire; its VLAN stays as it is. A restart of the "
        f"switch takes it back, but not where the switch saves by itself, as Cumulus Linux does from 5.9 on.{again}",
        LESS, up, FoundBy.SWITCHES, f"the console of switch {port.switch}",
    )  # fmt: skip


def _partition_key(_: ActsOf, item: KnownObject) -> Iterator[ManualAct]:
    if not isinstance(item.spec, PartitionKey) or item.spec.shared or not item.spec.members:
        return
    guids = [member.guid for member in item.spec.members]
    parts = [",".join(guids[start : start + IN_PATH]) for start in range(0, len(guids), IN_PATH)]
    path = f"${{UFM:?not set}}/ufmRest/resources/pkeys/{item.spec.key:#x}/guids/"
    delete = f'curl --fail --user "${{UFM_USER:?not set}}" --request DELETE "https://{path}'
    yield ManualAct(
        "empty-partition", item.kind, (item.name,), tuple(f'{delete}{part}"' for part in parts),
        "the nodes of the partition reach each other over InfiniBand no more; jobs end. Leave a GUID out to keep its "
        "node", LESS, (), FoundBy.AUDIT, f"with UFM and UFM_USER set for the UFM of subnet {item.spec.infiniband}",
    )  # fmt: skip


def _vipu(acts: ActsOf, item: KnownObject) -> Iterator[ManualAct]:
    spec = item.spec
    if not isinstance(spec, VipuUser | VipuPartition):
        return
    is_user = isinstance(spec, VipuUser)
    access = acts.access(spec)
    spelling = VipuSpelling(access.flags if access is not None else {})
    line = VipuLines(spelling).removed("user" if is_user else "partition", spec.name)
    program: tuple[str, ...] = USER_COMMAND if line.as_user else COMMAND
    config = "${VIPU_CONFIG:?not set}"
    if access is not None:
        program, config = access.user_command if line.as_user else access.command, access.config or ""
    place = access.hops[-1].address if access is not None and access.hops else "a machine with its --config"
    does = (
        "its access key opens nothing any more: no partition can be made or used with it; what runs goes on"
        if is_user
        else "ends what runs on the partition's IPUs, and frees them for other users of the allocation"
    )
    # A variable stays one; all else is quoted.
    quoted = f'"{config}"' if access is None else shlex.quote(config)
    words = (shlex.join(program), *((spelling.of("config"), quoted) if config else ()), shlex.join(line.words))
    yield ManualAct(
        "remove-vipu-user" if is_user else "remove-vipu-partition", item.kind, (item.name, spec.controller),
        (" ".join(words),), does, LESS if is_user else NONE, (), FoundBy.TOLD,
        f"{place}, for the controller {spec.controller} ({spec.address})",
    )  # fmt: skip


#: Language of a console -> how a port is shut, and enabled again.
_CONSOLE = {
    Syntax.EOS: (
        ("configure", "interface {port}", "   shutdown", "end"),
        ("configure", "interface {port}", "   no shutdown", "end"),
    ),
    Syntax.NVUE: (
        ("nv set interface {port} link state down", "nv config apply -y"),
        ("nv set interface {port} link state up", "nv config apply -y"),
    ),
}

#: Kind -> its acts. What is not here, nobody has to change by hand: it waits, or it joins.
_ACTS: Mapping[str, Callable[[ActsOf, KnownObject], Iterator[ManualAct]]] = {
    "Server": _server,
    "BareMetalServer": _bare_metal,
    "VolumeAttachment": _attachment,
    "Router": _router,
    "FloatingIp": _floating,
    "SecurityGroup": _group,
    "S3Credential": _s3_key,
    "RoleAssignment": _role,
    "ShareAccess": _share,
    "SwitchPort": _switch_port,
    "PartitionKey": _partition_key,
    "VipuUser": _vipu,
    "VipuPartition": _vipu,
}
