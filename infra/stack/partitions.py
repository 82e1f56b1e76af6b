"""The partitions of a site's InfiniBand subnets, as each subnet's UFM says them now."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from infra.cli.exits import EnvironmentFailed
from interlock.model.site.inventory import Site
from interlock.provider.errors import Failure
from interlock.provider.fabrics import Fabrics, asking
from interlock.retry import RetryPolicy
from interlock.ufm.answers import FabricPartition
from interlock.ufm.loading import load_fabrics


def partitions_of(site: Site, fabrics_file: Path) -> dict[str, Mapping[int, FabricPartition]]:
    """Subnet -> its partitions by P_Key. Raises `EnvironmentFailed` if one cannot be read."""
    fabrics = Fabrics(RetryPolicy(), lambda: load_fabrics(fabrics_file))
    try:
        with asking():
            return {subnet.name: fabrics.of(subnet.name).partitions() for subnet in site.infiniband}
    except Failure as error:
        raise EnvironmentFailed(error.what, error.hint) from error
