"""`tenants/<id>.yaml` -> `Tenant`: defaults of tenant and site filled in, every name looked up."""

from __future__ import annotations

from collections.abc import Iterable

from .errors import Code
from .faults import Faults
from .names import PARTS_OF_A_VPOD
from .site import Site
from .site_file import TenantDefaultsFile
from .source import KEY, Step
from .tenant import Access, BucketRequest, Pins, Poplar, Tenant, Volumes, VPod
from .tenant_file import PinsFile, PoplarFile, TenantFile, VPodFile
from .validation import nearest
from .vpod_sizes import IPUS, size_fault

Path = tuple[Step, ...]


class TenantExpansion:
    """One tenant's file against the site that it is for."""

    def __init__(self, site: Site, defaults: TenantDefaultsFile, faults: Faults) -> None:
        self.site = site
        self.defaults = defaults
        self.faults = faults

    def tenant(self, identity: str, file: TenantFile) -> Tenant:
        """The request in full form. Raises InputErrors with every fault of the file."""
        self._check_names(file)
        vpods = tuple(self._vpod(name, vpod, file) for name, vpod in file.vpods.items())
        pins = {name: self._pins(name, entry, vpods) for name, entry in file.pins.items()}
        self.faults.raise_if_any()
        return Tenant(
            id=identity,
            name=file.name,
            access=Access(
                members=tuple(file.access.members),
                ssh_public_key=file.access.ssh_public_key,
                ssh_from=tuple(file.access.ssh_from),
            ),
            vpods=vpods,
            buckets=_buckets(file),
            pins=pins,
        )

    def _check_names(self, file: TenantFile) -> None:
        """Names on the cloud are joined by dashes: no two vPODs or buckets may lead to one name."""
        if not file.vpods:
            self.faults.add(Code.VALUE, ("vpods",), "no vPOD", "a tenant has at least one")
        for section, names in (("vpods", file.vpods), ("buckets", file.buckets)):
            for name in names:
                for vpod in file.vpods:
                    same = name == vpod and section == "buckets"
                    if same or _is_part(name, vpod):
                        message = f"`{name}` could be a part of the vPOD `{vpod}` by its name on the cloud"
                        self.faults.add(
                            Code.TWICE, (section, name, KEY), message, "take a name that begins otherwise"
                        )
        for index, member in enumerate(file.access.members):
            if member in file.access.members[:index]:
                self.faults.add(Code.TWICE, ("access", "members", index), f"`{member}` is there twice")

    def _vpod(self, name: str, file: VPodFile, tenant: TenantFile) -> VPod:
        path = ("vpods", name)
        return VPod(
            name=name, machines=self._machines(path, file), poplar=self._poplar(path, file.poplar, tenant)
        )

    def _machines(self, path: Path, file: VPodFile) -> int:
        """The number of IPU-Machines, 1 in place of a wrong one."""
        if (file.machines is None) == (file.ipus is None):
            message = "say either `machines:` or `ipus:`"
            self.faults.add(
                Code.CONTRADICTION, path, message, f"`machines: 4` and `ipus: {4 * IPUS}` are the same"
            )
            return 1
        key, count = ("machines", file.machines) if file.machines is not None else ("ipus", file.ipus)
        assert count is not None
        message_or_none = size_fault(count, ipus=key == "ipus")
        if message_or_none is not None:
            self.faults.add(Code.VPOD_SIZE, (*path, key), message_or_none)
            return 1
        return count if key == "machines" else count // IPUS

    def _poplar(self, path: Path, file: PoplarFile, tenant: TenantFile) -> Poplar:
        below = (*path, "poplar")
        flavors = [flavor.name for flavor in self.site.flavors if flavor.role == "poplar"]
        images = [image.name for image in self.site.images]
        return Poplar(
            servers=file.servers,
            flavor=self._choice(
                (*below, "flavor"), "a flavour for Poplar servers", file.flavor, self.defaults.flavor, flavors
            ),
            image=self._choice((*below, "image"), "an image", file.image, self.defaults.image, images),
            volume=self._volume(below, file, tenant),
        )

    def _volume(self, path: Path, file: PoplarFile, tenant: TenantFile) -> Volumes | None:
        if file.volume is None:
            return None
        volume, below = file.volume, (*path, "volume")
        if volume.size < 1:
            self.faults.add(Code.VALUE, below, "a volume of 0 GiB", "leave `volume:` out for none")
        known = self.site.volume_types
        kind = self._choice((*below, "type"), "a volume type", volume.type, self.defaults.volume_type, known)
        return Volumes(size_gib=volume.size, volume_type=kind, on_delete=volume.on_delete or tenant.on_delete)

    def _choice(
        self, path: Path, what: str, named: str | None, default: str | None, known: Iterable[str]
    ) -> str:
        known = list(known)
        if named is not None:
            self.faults.need(path, what, named, known)
        elif default is None:
            message = f"`{path[-1]}` is missing, and the site has no default"
            self.faults.add(Code.MISSING_KEY, path, message, nearest("", known))
        return named or default or ""

    def _pins(self, name: str, file: PinsFile, vpods: tuple[VPod, ...]) -> Pins:
        by_name = {vpod.name: vpod for vpod in vpods}
        if name not in by_name:
            message = f"pins for `{name}`, which is no vPOD of this tenant"
            self.faults.add(Code.NO_SUCH, ("pins", name, KEY), message, nearest(name, by_name))
            return Pins()
        vpod = by_name[name]
        hosts = [host.name for host in self.site.hosts if host.role == "poplar"]
        self._pinned(
            ("pins", name, "machines"), "an IPU-Machine", file.machines, self.site.machine, vpod.machines
        )
        self._pinned(("pins", name, "hosts"), "a Poplar host", file.hosts, hosts, vpod.poplar.servers)
        values = file.model_dump(exclude={"machines", "hosts"})
        machines = None if file.machines is None else tuple(file.machines)
        return Pins(machines=machines, hosts=None if file.hosts is None else tuple(file.hosts), **values)

    def _pinned(
        self, path: Path, what: str, names: list[str] | None, known: Iterable[str], count: int
    ) -> None:
        if names is None:
            return
        known = list(known)
        for index, name in enumerate(names):
            self.faults.need((*path, index), what, name, known)
        if len(names) != count:
            self.faults.add(
                Code.CONTRADICTION, path, f"{len(names)} pinned, {count} asked for", "pin all or none"
            )


def _is_part(name: str, vpod: str) -> bool:
    return name.startswith(tuple(f"{vpod}-{part}" for part in PARTS_OF_A_VPOD))


def _buckets(file: TenantFile) -> tuple[BucketRequest, ...]:
    return tuple(
        BucketRequest(name=name, versioning=bucket.versioning, on_delete=bucket.on_delete or file.on_delete)
        for name, bucket in file.buckets.items()
    )
