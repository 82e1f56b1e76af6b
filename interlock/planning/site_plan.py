"""The operator's own stack: what tenants refer to as `site:<Kind>/<name>`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import IPv4Network

from interlock.model.lock.record import SiteLock
from interlock.model.site.inventory import FlavorSpec, SegmentRangeSpec, Site
from interlock.model.site.service_networks import NOTHING, ServiceNetwork, service_networks
from interlock.model.text.source import KEY
from interlock.model.text.validation import nearest
from interlock.resources import (
    KINDS,
    AddressScope,
    Admitted,
    Aggregate,
    Flavor,
    FlavorAccess,
    Image,
    Network,
    Project,
    Resource,
    Role,
    RoleAssignment,
    SegmentRange,
    ShareType,
    Subnet,
    SubnetPool,
    VolumeType,
)
from interlock.resources.existing import STATED
from interlock.resources.storage import DRIVER_HANDLES_SHARE_SERVERS
from interlock.vocabulary import ExistingObject, Reference, StackName
from interlock.vocabulary.references import ADMIN_ROLE, CONTROLLERS_PROJECT, OPERATOR_USER

from .cluster_fabric import shared_partition
from .errors import PlanningError
from .hashes import site_hash
from .plan import Plan
from .plan_builder import PlanBuilder
from .quotas import MIB_PER_GIB, controllers_quota

#: Plan name of the role of service users; its name on the cloud is the site's `s3_role`.
S3_ROLE = "s3_service"

#: Aggregate metadata, and through Nova's AggregateInstanceExtraSpecsFilter the fence around other hosts.
ROLE_KEY = "interlock_role"


class SitePlanBuilder(PlanBuilder):
    """A builder that leaves out what is on the cloud already (`existing:`)."""

    def __init__(self, site: Site) -> None:
        super().__init__()
        self.site = site
        #: Everything that the site has, by `<Kind>/<name>`, whether it is planned or there already.
        self.objects: dict[str, None] = {}
        #: What the site states of each object that it names there.
        self.stated: list[Admitted] = []

    def own(self, name: str, resource: Resource, after: tuple[str, ...] = ()) -> str:
        """Write down one resource, unless it exists; returns the reference to it either way."""
        key = str(ExistingObject(resource.KIND, name))
        self.objects[key] = None
        if key in self.site.existing:
            self.stated.append(Admitted(name=name, kind=resource.KIND, spec=resource.canonical()))
            return Reference.site(resource.KIND, name)
        return self.add(name, resource, after)

    def check_existing(self) -> None:
        """PlanningError for a key of `existing:` that is no object of the site: nothing would ever look at it."""
        for key in sorted(self.site.existing.keys() - self.objects.keys()):
            message = f"`existing` names {key}, which is no object of this site"
            raise PlanningError(message, nearest(key, self.objects), ("existing", key, KEY))


def plan_site(site: Site, site_lock: SiteLock, kept: Iterable[Admitted] = ()) -> Plan:
    """The plan of the stack `<site>-site`.

    `kept`: what the site no longer has, as it was applied, while tenants' stacks use it.
    """
    _require_services(site, site_lock.services)
    builder = _built(site, site_lock.services)
    for item in kept:
        builder.add(item.name, KINDS[item.kind].model_validate(item.spec))
    builder.check_names()
    whole = site_hash(site)
    return Plan(
        site=site.name,
        stack=str(StackName(site.name)),
        tenant=None,
        owner=site_lock.owner,
        site_owner=site_lock.owner,
        site_hash=whole,
        request_hash=whole,
        components=tuple(builder.components),
        resources=tuple(builder.resources),
    )


def _require_services(site: Site, recorded: Mapping[str, str]) -> None:
    """Hosts keep what they have, so that one may find nothing on its physical network although enough is listed."""
    found = service_networks(site, recorded)
    for host in site.whole_hosts if site.ironic is not None else ():
        if host.name not in found:
            kept = ", ".join(f"{name} {network.vlan}" for name, network in found.items())
            raise PlanningError(
                f"no VLAN of `ironic.networks` is left for {host.name}; others keep theirs ({kept})",
                f"list one more on a physical network on which {host.name} has an interface, and lock again",
                ("ironic", "networks"),
            )


def stated_existing(site: Site, recorded: Mapping[str, str] = NOTHING) -> tuple[Admitted, ...]:
    """Each object of `existing:` as the site states it: as the operator's stack would make it if it were not there.

    References to other objects of the site are as in a plan: a plan name, or `site:` for what exists as well.
    `recorded`: the service networks of the operator's lock.
    """
    return tuple(_built(site, recorded).stated)


def nameable(site: Site) -> tuple[str, ...]:
    """Every key that `existing:` of this site may have, in the order of its plan."""
    return tuple(key for key in _built(site).objects if ExistingObject.parse(key).kind in STATED)


def site_objects(site: Site) -> tuple[str, ...]:
    """`<Kind>/<name>` of each object of the operator's stack, whether it is made or there already."""
    return tuple(_written(site).objects)


def _built(site: Site, recorded: Mapping[str, str] = NOTHING) -> SitePlanBuilder:
    builder = _written(site, recorded)
    builder.check_names()
    builder.check_existing()
    return builder


def _written(site: Site, recorded: Mapping[str, str] = NOTHING) -> SitePlanBuilder:
    builder = SitePlanBuilder(site)
    builder.component(site.name, "Site")
    if site.controller is not None:
        _controllers(site, builder)
    builder.own(S3_ROLE, Role(name=site.s3_role, description="S3 only: no other service knows this role"))
    for spec in site.segment_ranges:
        _segment_range(spec, builder)
    _external(site, builder)
    for service in service_networks(site, recorded).values():
        _service_network(service, builder)
    for subnet in site.infiniband:
        if (partition := shared_partition(subnet)) is not None:
            builder.own(f"storage-partition-{subnet.name}", partition)
    _catalogue(site, builder)
    for role in ("poplar", "infra", "gpu"):
        # Ironic gives a bare-metal host out whole: Nova has no hypervisor of that name to put into an aggregate.
        hosts = tuple(host.name for host in site.hosts if host.role == role and host.provisioning == "hypervisor")
        if role == "gpu" and not hosts:
            continue
        builder.own(f"{role}-hosts", Aggregate(name=f"{role}-hosts", hosts=hosts, metadata={ROLE_KEY: role}))
    return builder


def _controllers(site: Site, builder: SitePlanBuilder) -> None:
    project = builder.own(
        "controllers",
        Project(name=f"{site.name}-controllers", domain=site.domain, description="V-IPU controllers"),
    )
    role = RoleAssignment(project=project, user=OPERATOR_USER, role=ADMIN_ROLE)
    operator = builder.own("controllers-operator", role)
    builder.own("controllers-quota", controllers_quota(site, project), after=(operator,))


def _segment_range(spec: SegmentRangeSpec, builder: SitePlanBuilder) -> None:
    name = f"range-{spec.physical_network or spec.network_type}-{spec.minimum}"
    builder.own(name, SegmentRange(name=name, **spec.model_dump()))


def _external(site: Site, builder: SitePlanBuilder) -> None:
    """Without an address scope the subnet stands in none, and the gate has to find that."""
    external = site.external
    pool = None
    if external.address_scope is not None:
        scope = builder.own("external-scope", AddressScope(name=external.address_scope))
        length = IPv4Network(external.cidr).prefixlen
        prefixes = SubnetPool(
            name="external-pool", address_scope=scope, prefixes=(external.cidr,), default_prefix_length=length
        )
        pool = builder.own("external-pool", prefixes)
    network = Network(
        name=external.name,
        network_type=external.network_type,
        physical_network=external.physical_network,
        segmentation_id=external.vlan,
        external=True,
    )
    subnet = Subnet(
        name="external-subnet",
        network=builder.own("external", network),
        cidr=external.cidr,
        gateway=external.gateway,
        dhcp=False,
        pools=(external.pool,),
        subnet_pool=pool,
    )
    builder.own("external-subnet", subnet)


def _service_network(service: ServiceNetwork, builder: SitePlanBuilder) -> None:
    """Where Ironic deploys and cleans one host. No router and no gateway: conductors have addresses there."""
    network = Network(
        name=service.name,
        network_type="vlan",
        physical_network=service.physical_network,
        segmentation_id=service.vlan,
    )
    subnet = Subnet(
        name=f"{service.name}-subnet",
        network=builder.own(service.name, network),
        cidr=service.cidr,
        pools=(service.pool,),
    )
    builder.own(f"{service.name}-subnet", subnet)


def _catalogue(site: Site, builder: SitePlanBuilder) -> None:
    for flavor in site.flavors:
        reference = builder.own(flavor.name, _flavor(flavor))
        if site.controller is not None and flavor.name == site.controller.flavor and not flavor.public:
            own = str(ExistingObject("Project", "controllers"))
            project = CONTROLLERS_PROJECT if own in site.existing else "controllers"
            builder.own(f"controllers-{flavor.name}", FlavorAccess(project=project, flavor=reference))
    for image in site.images:
        builder.own(image.name, Image(**image.model_dump(exclude={"properties", "software"})))
    for name in site.volume_types:
        builder.own(name, VolumeType(name=name, encryption=site.volume_encryption.get(name)))
    for share_type in site.share_types:
        specs = {**share_type.extra_specs, DRIVER_HANDLES_SHARE_SERVERS: "False"}
        builder.own(share_type.name, ShareType(name=share_type.name, extra_specs=specs))


def _flavor(spec: FlavorSpec) -> Flavor:
    fence = {f"aggregate_instance_extra_specs:{ROLE_KEY}": spec.role}
    return Flavor(
        name=spec.name,
        vcpus=spec.vcpus,
        ram_mib=spec.ram_gib * MIB_PER_GIB,
        disk_gib=spec.disk_gib,
        extra_specs=spec.all_extra_specs | fence,
        public=spec.public,
    )
