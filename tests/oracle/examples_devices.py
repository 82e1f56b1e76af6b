"""Worked examples about machines, hosts and fabrics, and about what was given up. Letters are variants."""

from __future__ import annotations

import json

from interlock.model.site.inventory import InfinibandSubnet
from interlock.resources import (
    BareMetalServer,
    Keypair,
    NvlinkPartition,
    PartitionKey,
    PartitionMember,
    ShareAccess,
    VipuAgent,
    VipuAllocation,
)
from tests.builders.pod64 import ssh_key

from .drafting import Draft
from .sayings import VLAN, A, Example, G, both, leaf, machine, management, tenant
from .world import OP


def _with_machine(guard: str, value: bool | None) -> Draft:
    """acme's machine, its management port on the operator's VLAN with another machine's."""
    draft = both()
    management(draft)
    _, port = machine(draft, A, "ipum-01", 1001)
    draft.change_port("mgmt-1", port, untagged=111)
    draft.assumptions["A3"][guard] = value
    return draft


def machine_that_keeps_apart() -> Draft:
    """RNIC – gateway – management, while A3 holds."""
    return _with_machine("no_forwarding", True)


def default_credentials() -> Draft:
    """The machine's own passwords are the maker's."""
    return _with_machine("credentials_rotated", False)


def credentials_unknown() -> Draft:
    """Nobody says."""
    return _with_machine("credentials_rotated", None)


def open_bmc() -> Draft:
    """A whole host whose BMC is on the management VLAN and answers its own root."""
    draft = both()
    management(draft)
    port = draft.whole_host("bm-1", "leaf-1")
    draft.switch_port(A, "leaf-1", port, 1001)
    whole = BareMetalServer(name="x", project=draft.project(A), node="bm-1", image="site:Image/poplar", ports=())
    draft.add(A, "acme-a-whole", whole)
    draft.cable(("bm-1", "idrac"), ("mgmt-1", draft.port("mgmt-1", untagged=111)))
    draft.assumptions["A13"] = {"in_band_closed": False}
    return draft


def _keys(*members: tuple[str, int, str]) -> Draft:
    draft = both()
    draft.infiniband = [InfinibandSubnet(name="ib", prefix="fe80000000000001")]
    for number, (owner, key, role) in enumerate(members):
        member = PartitionMember.model_validate({"guid": f"{number:016x}", "membership": role})
        draft.add(owner, f"{owner}-key-{number}", PartitionKey(infiniband="ib", key=key, members=(member,)))
    return draft


def one_key_in_two_spellings() -> Draft:
    """0x0005 and 0x8005 are the same 15 bits."""
    return _keys((A, 0x0005, "full"), (G, 0x8005, "full"))


def limited_members() -> Draft:
    """Both limited in the default partition."""
    return _keys((A, 0x7FFF, "limited"), (G, 0x7FFF, "limited"))


def full_member() -> Draft:
    """One of them is full."""
    return _keys((A, 0x7FFF, "limited"), (G, 0x7FFF, "full"))


def full_member_of_a_storage_key() -> Draft:
    """The full member is globex's own server."""
    return _keys((A, 0x0100, "limited"), (G, 0x0100, "full"))


#: Ports of acme, globex and the storage appliance.
_PORTS = ("00000000000000aa", "00000000000000bb", "00000000000000cc")


def undeclared_appliance() -> Draft:
    """The operator's key for storage: tenants' ports, each limited and in its tenant's hands, and a full one."""
    draft = _keys()
    members = tuple(
        PartitionMember(guid=guid, membership="full" if guid == _PORTS[2] else "limited") for guid in _PORTS
    )
    draft.add(OP, "storage-key", PartitionKey(infiniband="ib", key=0x0100, members=members))
    for owner, guid in zip((A, G), _PORTS, strict=False):
        own = (PartitionMember(guid=guid, membership="limited"),)
        draft.add(owner, f"{owner}-key", PartitionKey(infiniband="ib", key=0x7FFF, members=own))
    return draft


def _appliance(*audience: str, **guards: bool | None) -> Draft:
    draft = undeclared_appliance()
    draft.declare(_PORTS[2], "storage-appliance", *audience, **guards)
    return draft


def appliance_that_is_a_terminal() -> Draft:
    """Declared, with all that it rests on."""
    return _appliance()


def appliance_that_may_route() -> Draft:
    """Nobody says whether anything goes from one address of it to another."""
    return _appliance(no_routing_between_vips=None)


def appliance_for_one() -> Draft:
    """Declared for acme."""
    return _appliance(A)


def keys_at_the_adapter() -> Draft:
    """Enforced where root can rewrite them."""
    draft = limited_members()
    draft.assumptions["A6"]["keys_enforced_at_switch"] = False
    return draft


def _boundary() -> Draft:
    """acme's ipum-04 and globex's ipum-05, with the cable between them."""
    draft = both()
    management(draft)
    machine(draft, A, "ipum-04", 1001)
    machine(draft, G, "ipum-05", 1002)
    draft.cable(("ipum-04", "ipu-link-down-1"), ("ipum-05", "ipu-link-up-1"), "ipu-link")
    return draft


def plugged_boundary() -> Draft:
    """Under A4."""
    return _boundary()


def allocation_unknown() -> Draft:
    """Nobody says whether each machine is in one allocation."""
    draft = _boundary()
    draft.assumptions["A4"]["one_allocation_each"] = None
    return draft


def one_allocation() -> Draft:
    """Both machines in acme's."""
    draft = _boundary()
    both_machines = VipuAllocation(name="x", controller="acme-controller", cluster="x", machines=("ipum-04", "ipum-05"))
    draft.add(A, "acme-a-allocation", both_machines)
    return draft


def agent_of_anothers_machine() -> Draft:
    """globex's machine is asked by acme's controller, in no allocation of acme's yet."""
    draft = _boundary()
    draft.add(A, "x", VipuAgent(name="x", controller="acme-controller", machine="ipum-05", serial="x", host="10.0.0.1"))
    return draft


def default_nvlink_partition() -> Draft:
    """What partitions there are is not applied: all GPUs of the rack are in the default one."""
    draft = both()
    for number, name in enumerate((A, G), start=1):
        part = NvlinkPartition(name=name, domain="rack", partition=number, gpus=(f"gpu-{number}",))
        draft.add(name, f"{name}-nvlink", part)
    draft.assumptions["A8"]["default_partition_empty"] = False
    return draft


def shares_by_address_alone() -> Draft:
    """Both use one prefix, and the appliance looks at the client's address only."""
    draft = both()
    for number, (name, vlan) in enumerate(((A, 1001), (G, 1002))):
        access = ShareAccess(
            project=draft.project(name), share="s", network=f"{name}-a-ipu-data-{vlan}", prefix="10.0.0.0/24",
            vip=f"10.0.0.{200 + number}",
        )  # fmt: skip
        draft.add(name, f"{name}-access", access)
    draft.sharing["appliance"]["access_by_vip_and_client"] = False
    return draft


def released_and_taken() -> Draft:
    """acme's claim on machine 7 is released, globex's plan takes it."""
    draft = both()
    machine(draft, G, "ipum-07", 1002)
    draft.give_up(A, "machines", "ipum-07")
    return draft


def without_mitigations() -> Draft:
    """Two owners on one hypervisor."""
    draft = both()
    draft.assumptions["A5"]["mitigations"] = False
    return draft


def alone_without_mitigations() -> Draft:
    """One owner."""
    draft = leaf()
    tenant(draft, A, 1001)
    draft.tenant(G)
    draft.assumptions["A5"]["mitigations"] = False
    return draft


def one_address_twice() -> Draft:
    """Machines of both whose RNICs have one MAC address, written in two ways."""
    draft = both()
    management(draft)
    for owner, name, mac in ((A, "ipum-01", "0C:42:A1:00:00:07"), (G, "ipum-02", "0c-42-a1-00-00-07")):
        rnic, _ = draft.machine(name, mac=mac)
        draft.switch_port(owner, "leaf-1", rnic, VLAN[owner])
    return draft


def _logins(of_acme: str, of_globex: str) -> Draft:
    """A key pair of each tenant, with these keys."""
    draft = both()
    for owner, key in ((A, of_acme), (G, of_globex)):
        draft.add(owner, f"{owner}-key", Keypair(name=f"{owner}-key", public_key=f"{ssh_key(key)}@{owner}"))
    return draft


def one_login_of_both() -> Draft:
    """One key under two names and with two comments: who has it logs in to the servers of both."""
    return _logins("anne", "anne")


def a_login_each() -> Draft:
    """Two keys; two pairs of one person are two."""
    return _logins("anne", "anne at globex")


def a_former_login_of_another() -> Draft:
    """A key that acme took out of its request, and that globex is given: servers that acme made with it are there."""
    draft = _logins("anne's second", "anne")
    draft.take_out(A, ssh_key("anne"))
    return draft


def a_former_login_that_came_back() -> Draft:
    """A key that its own tenant has again."""
    draft = _logins("anne", "anne at globex")
    draft.take_out(A, ssh_key("anne"))
    return draft


def _authorities(of_acme: str, of_globex: str) -> Draft:
    """A server of each tenant whose sshd takes certificates that these keys sign."""
    draft = both()
    for owner, key in ((A, of_acme), (G, of_globex)):
        files = [
            {"path": "/etc/ssh/sshd_config.d/1.conf", "content": "TrustedUserCAKeys /etc/ssh/ca.pub\n"},
            {"path": "/etc/ssh/ca.pub", "content": f"{ssh_key(key)}@{owner}\n"},
        ]
        document = f"#cloud-config\n{json.dumps({'write_files': files})}\n"
        draft.server(owner, f"{owner}-trusting", "hv-1", (), user_data=document)
    return draft


def one_authority_of_both() -> Draft:
    """Whoever has its key signs himself into the servers of both."""
    return _authorities("authority", "authority")


def an_authority_each() -> Draft:
    """Two keys."""
    return _authorities("authority", "authority of globex")


def _quarantine(**port: object) -> Draft:
    """Machines of two tenants just released, their ports as given."""
    draft = both()
    management(draft)
    for owner, name in ((A, "ipum-03"), (G, "ipum-09")):
        rnic, _ = draft.machine(name)
        draft.change_port("leaf-1", rnic, **port)
        draft.give_up(owner, "machines", name)
    return draft


def quarantine_vlan() -> Draft:
    """Both ports up in VLAN 4000."""
    return _quarantine(untagged=4000)


def ports_disabled() -> Draft:
    """Both ports down."""
    return _quarantine(mode="disabled")


def isolated_ports() -> Draft:
    """Both isolated in a private VLAN."""
    return _quarantine(untagged=4000, private_vlan="isolated")


def released_in_one_apply() -> Draft:
    """The port is as it was until it is disabled; nobody else is there."""
    draft = both()
    management(draft)
    rnic, _ = draft.machine("ipum-03")
    draft.change_port("leaf-1", rnic, untagged=1001)
    draft.give_up(A, "machines", "ipum-03")
    return draft


def switch_was_down() -> Draft:
    """acme's claim on VLAN 1001 is released, the switch still has it, and globex takes it."""
    draft = leaf()
    draft.tenant(A)
    tenant(draft, G, 1001)
    draft.give_up(A, "ipu_data_vlan", "data-1:1001")
    return draft


def switch_that_cannot_be_read() -> Draft:
    """The cloud says that the port of acme's machine is gone; no record says what the switch still has there."""
    draft = both()
    management(draft)
    rnic, _ = draft.machine("ipum-03")
    del draft.switches["leaf-1"].ports[rnic]
    draft.give_up(A, "machines", "ipum-03")
    return draft


def cleaned_and_taken(erases: bool | None) -> Draft:
    """acme gave machine 7 up, it was cleaned, and globex's plan takes it."""
    draft = both()
    machine(draft, G, "ipum-07", 1002)
    draft.clean(A, "ipum-07")
    draft.assumptions["A9"] = {"steps_erase": erases}
    return draft


def cleaned_and_idle() -> Draft:
    """Nobody has it, whatever cleaning is worth."""
    draft = both()
    management(draft)
    draft.machine("ipum-07")
    draft.clean(A, "ipum-07")
    draft.assumptions["A9"] = {"steps_erase": False}
    return draft


EXAMPLES = (
    Example("22b", "P", machine_that_keeps_apart),
    Example("22c", "V", default_credentials),
    Example("22d", "N", credentials_unknown),
    Example("23", "V", open_bmc),
    Example("24", "V", one_key_in_two_spellings),
    Example("25a", "P", limited_members),
    Example("25b", "V", full_member),
    Example("26a", "P", appliance_that_is_a_terminal),
    Example("26c", "V", undeclared_appliance),
    Example("26d", "N", appliance_that_may_route),
    Example("26e", "V", appliance_for_one),
    Example("26b", "V", full_member_of_a_storage_key),
    Example("27", "V", keys_at_the_adapter),
    Example("28a", "P", plugged_boundary),
    Example("28b", "N", allocation_unknown),
    Example("28c", "V", one_allocation),
    Example("28d", "V", agent_of_anothers_machine),
    Example("29", "V", default_nvlink_partition),
    Example("31b", "V", shares_by_address_alone),
    Example("35", "V", released_and_taken),
    Example("42a", "V", without_mitigations),
    Example("42b", "P", alone_without_mitigations),
    Example("43b", "V", one_address_twice),
    Example("43c", "V", one_login_of_both),
    Example("43d", "P", a_login_each),
    Example("43g", "V", a_former_login_of_another),
    Example("43h", "P", a_former_login_that_came_back),
    Example("43e", "V", one_authority_of_both),
    Example("43f", "P", an_authority_each),
    Example("46a", "V", quarantine_vlan),
    Example("46b", "P", ports_disabled),
    Example("46c", "P", isolated_ports),
    Example("47", "P", released_in_one_apply),
    Example("48a", "V", switch_was_down),
    Example("48b", "N", switch_that_cannot_be_read),
    Example("52a", "P", lambda: cleaned_and_taken(erases=True)),
    Example("52b", "N", lambda: cleaned_and_taken(erases=None)),
    Example("52c", "V", lambda: cleaned_and_taken(erases=False)),
    Example("52d", "P", cleaned_and_idle),
)
