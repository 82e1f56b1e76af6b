"""Command -> the function that answers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from . import allocation_calls, cluster_calls, partition_calls
from .scene import Call, Outcome, Scene

Handler = Callable[[Scene, Call], Outcome]

HANDLERS: Mapping[tuple[str, str], Handler] = {
    ("create", "agent"): cluster_calls.create_agent,
    ("update", "agent"): cluster_calls.update_agent,
    ("remove", "agent"): cluster_calls.remove_agent,
    ("get", "agent"): cluster_calls.get_agent,
    ("list", "agent"): cluster_calls.list_agents,
    ("create", "cluster"): cluster_calls.create_cluster,
    ("remove", "cluster"): cluster_calls.remove_cluster,
    ("get", "cluster"): cluster_calls.get_cluster,
    ("list", "cluster"): cluster_calls.list_clusters,
    ("create", "allocation"): allocation_calls.create_allocation,
    ("update", "allocation"): allocation_calls.update_allocation,
    ("remove", "allocation"): allocation_calls.remove_allocation,
    ("get", "allocation"): allocation_calls.get_allocation,
    ("list", "allocation"): allocation_calls.list_allocations,
    ("create", "user"): allocation_calls.create_user,
    ("update", "user"): allocation_calls.update_user,
    ("remove", "user"): allocation_calls.remove_user,
    ("get", "user"): allocation_calls.get_user,
    ("list", "user"): allocation_calls.list_users,
    ("create", "partition"): partition_calls.create_partition,
    ("reset", "partition"): partition_calls.reset_partition,
    ("remove", "partition"): partition_calls.remove_partition,
    ("get", "partition"): partition_calls.get_partition,
    ("list", "partition"): partition_calls.list_partitions,
    ("list", "ipu-attr"): partition_calls.list_attributes,
    ("occupy", "partition"): partition_calls.occupy_partition,
    ("vacate", "partition"): partition_calls.vacate_partition,
}
"""All but `discover agent`, which the controller answers itself: what is heard is no state of its own."""
