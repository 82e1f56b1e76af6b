"""Conformance: each command and rule, where it is from, whether the simulator enforces it, and tests that show it.

`docs/reference/vipu-simulator.md` holds these tables; `python -m tests.docs.generate` writes them. A test holds that
every command, every refusal and every test is here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from .commands import COMMANDS
from .flags import FLAGS, SERVER_FLAGS
from .sources import (
    ALLOCATIONS,
    ARCHITECTURE,
    ARITHMETIC,
    CABLES,
    CLUSTERS,
    GCDS,
    PADDLE,
    PARTITIONS,
    POPDIST,
    POPTORCH_ERROR,
    RECONFIGURABLE,
    RINGS_OF_RACKS,
    SCRIPTS,
    SECURING,
    SHARING,
    SIZES,
    TWO_PODS,
    USERS,
    Source,
    assumed,
)

Enforced = Literal["yes", "in part", "no"]


@dataclass(frozen=True)
class ConformanceRow:
    """One rule. `tests`: file below tests/vipu without `test_vipu_` and `.py`, and function without `test_`."""

    rule: str
    source: Source
    enforced: Enforced
    tests: tuple[str, ...]
    #: Conditions of `refusals.REFUSALS` by which it is enforced.
    conditions: tuple[str, ...] = ()


def _row(rule: str, source: Source, tests: str, conditions: str = "", enforced: Enforced = "yes") -> ConformanceRow:
    return ConformanceRow(rule, source, enforced, tuple(tests.split()), tuple(conditions.split()))


RULES: tuple[ConformanceRow, ...] = (
    _row("an id is taken once for each kind of object", assumed("bookkeeping"), "clusters:ids_are_taken_once",
         "exists"),
    _row("an id that is not there is told", assumed("bookkeeping"), "clusters:unknown_ids_are_told"
         " allocations:unknown_allocations_of_a_user_are_told", "absent"),
    _row("ids are letters, digits, `_`, `.` and `-`", assumed(), "clusters:ids_are_plain", "bad-id"),
    _row("one agent for one IPU-Machine", CLUSTERS, "clusters:an_agent_has_an_address_of_its_own",
         "address-taken missing"),
    _row("an agent is known after a first contact, and ONLINE or OFFLINE from then on", assumed("names of states"),
         "life:an_agent_is_known_after_a_while", "agent-not-ready"),
    _row("agents on networks that are listened on are discovered, whosever they are", CLUSTERS,
         "life:foreign_agents_are_heard_where_the_back_end_is_shared"),
    _row("agents of a cluster are contiguous in their rack, in the order of the cables", CABLES,
         "clusters:contiguous_runs_are_clusters clusters:other_runs_are_not", "not-adjacent"),
    _row("a cluster is of 1, 2, 4, 8 or 16 IPU-Machines, or of 2, 4, 8 … whole racks", SIZES,
         "clusters:other_runs_are_not clusters:domains_are_whole_racks_in_order", "machines"),
    _row("an IPU-Link domain of several is a whole rack", CABLES,
         "clusters:a_domain_is_one_rack_also_where_more_machines_hang_together", "not-whole"),
    _row("no agent stands twice in a list", assumed("a public script lists one twice; what came of it is unknown"),
         "clusters:other_runs_are_not", "listed-twice"),
    _row("clusters do not overlap", CLUSTERS, "clusters:an_agent_belongs_to_one_cluster",
         "agent-in-cluster agent-in-use"),
    _row("an IPU-Machine has one controller", assumed("a refusal is nowhere"),
         "clusters:two_controllers_do_not_know_of_each_other", enforced="no"),
    _row("a torus needs a cable that closes it", CABLES,
         "clusters:a_torus_is_closed_by_a_cable clusters:a_cable_of_its_own_closes_a_part", "not-closed"),
    _row("topologies are mesh and torus, cluster topologies none and looped", TWO_PODS,
         "clusters:words_of_topologies_are_few", "word"),
    _row("several racks need GW-Links between them", CABLES,
         "clusters:two_racks_are_one_cluster_over_gateway_links clusters:racks_without_gateway_links_are_not",
         "no-gateway-links"),
    _row("a loop is closed, of 2 to 4 IPU-Link domains", CABLES,
         "clusters:a_loop_has_two_to_four_domains clusters:a_loop_is_closed", "looped-alone no-gateway-links"),
    _row("a cluster is removed when neither an allocation nor a partition is in it", assumed("bookkeeping"),
         "clusters:a_cluster_goes_when_nothing_is_in_it", "cluster-in-use"),
    _row("a cluster is made and removed in some time, with states of its own", assumed("names of states"),
         "life:a_cluster_is_made_and_removed_slowly", "cluster-not-ready"),
    _row("neither a cluster nor a partition changes its size", assumed("no source has a command for it"),
         "clusters:nothing_changes_a_size commands:wrong_words_are_exit_code_2",
         "no-such-call"),
    _row("an allocation is agents of one cluster", assumed("the guide says agents"),
         "allocations:allocations_are_agents_of_one_cluster", "two-clusters agent-free no-agents"),
    _row("allocations are apart", assumed("the guide's examples are; a refusal is nowhere"),
         "allocations:no_source_says_that_allocations_are_apart", enforced="no"),
    _row("lists are replaced whole: of two admins the last one wins", assumed("no version of an object is known"),
         "allocations:of_two_admins_the_last_one_has_the_list"),
    _row("an allocation in use is not removed", assumed("bookkeeping"), "allocations:an_allocation_in_use_stays",
         "allocation-in-use"),
    _row("a partition lies in one allocation", ALLOCATIONS, "partitions:a_partition_lies_in_one_allocation",
         "larger-than-allocation both"),
    _row("without `--allocation` an allocation of the user's is chosen", ALLOCATIONS,
         "partitions:a_partition_lies_in_one_allocation partitions:where_is_clear_or_asked_for", "where"),
    _row("users get an access key of 11 characters, and a file of settings", USERS,
         "allocations:a_key_has_the_shape_of_the_guides_and_is_told_once"
         " commands:a_users_key_and_file_are_as_in_the_guide"),
    _row("the file of settings leads to the user API", assumed(), "commands:the_file_leads_to_the_user_api"),
    _row("without `--secure` nobody is asked for a key", USERS,
         "allocations:without_secure_mode_nobody_is_asked"),
    _row("with `--secure` id and key are asked for", USERS, "allocations:in_secure_mode_everybody_is_asked", "nobody"),
    _row("users see their allocations alone", USERS, "allocations:users_see_their_allocations_alone", "not-yours"),
    _row("users of one allocation have all its partitions", USERS,
         "allocations:users_of_one_allocation_have_all_its_partitions"),
    _row("without `--allocations` a user is not restricted", USERS,
         "allocations:a_user_who_is_not_restricted_has_all"),
    _row("another key ends the old one", assumed(), "allocations:another_key_ends_the_old_one"),
    _row("partitions of a user who goes stay; the last admin cannot go", assumed(),
         "allocations:a_user_who_goes_leaves_its_partitions allocations:admins_are_asked_who_they_are_too",
         "last-admin"),
    _row("the admin API can be apart, and is closed to users", SECURING,
         "allocations:the_user_api_serves_no_admin allocations:admins_are_asked_who_they_are_too"
         " commands:one_address_has_both_apis_unless_they_are_apart commands:vipu_knows_no_command_of_admins",
         "not-here not-admin"),
    _row("`--init --secure` makes storage, certificates and a default admin", SECURING,
         "commands:init_makes_an_admin_who_can_log_in storage:secure_from_the_first_command_to_a_partition"),
    _row("TLS asks both sides for certificates", SECURING, "commands:tls_asks_both_sides"),
    _row("a partition's size is a power of 2", PARTITIONS,
         "partitions:sizes_are_powers_of_two partitions:other_sizes_are_refused partitions:a_size_is_asked_for",
         "size missing"),
    _row("IPUs of a partition are unused ones", PARTITIONS, "partitions:an_ipu_is_in_one_partition", "no-free-ipus"),
    _row("IPUs of a partition are next to one another, in one IPU-Link domain or in whole ones", CABLES,
         "partitions:ipus_of_a_partition_are_next_to_one_another partitions:ipus_of_two_domains_are_whole_domains",
         "no-free-block"),
    _row("a partition is apart from its neighbours on IPU-Links", PARTITIONS, "partitions:an_ipu_is_in_one_partition",
         enforced="no"),
    _row("agents in maintenance get no new partition", assumed(), "partitions:agents_in_maintenance_get_no_partition"),
    _row("GCDs divide a partition into powers of 2, 1 by default", GCDS,
         "partitions:gcds_and_replicas_divide_a_partition partitions:others_do_not", "gcds"),
    _row("replicas are a multiple of the GCDs, by two spellings of a flag", ARITHMETIC,
         "partitions:others_do_not partitions:both_spellings_of_replicas_are_one", "replicas both"),
    _row("a partition of several IPU-Link domains has GCDs in each", POPDIST,
         "partitions:a_partition_of_two_domains_has_gcds_in_each", "gcds-of-domains"),
    _row("a reconfigurable partition is c2-compatible, by default and else refused, but with `--index`",
         RECONFIGURABLE, "partitions:reconfigurable_means_c2_compatible", "reconfigurable word"),
    _row("a reconfigurable partition lies in one IPU-Link domain", assumed("jobs in public make no others"),
         "partitions:a_partition_of_two_domains_has_gcds_in_each", "reconfigurable-domains"),
    _row("an index is a place among those of a size", assumed(), "partitions:an_index_is_a_place",
         "index index-taken"),
    _row("a ring needs whole domains of a torus, and is the default there", RINGS_OF_RACKS,
         "partitions:a_ring_needs_a_whole_torus partitions:a_mesh_has_no_ring", "ring"),
    _row("partitions of public scripts are made", TWO_PODS,
         "partitions:the_partitions_of_public_scripts_are_made"),
    _row("a partition takes time, and is PENDING until it is ACTIVE", assumed("names but ACTIVE"),
         "life:a_partition_takes_time_by_its_machines life:a_partition_that_is_removed_keeps_its_ipus_until_it_is_gone",
         "partition-not-active"),
    _row("a lost agent, a link that is down and another board put partitions into ERROR", assumed("names of states"),
         "life:an_agent_that_is_lost_takes_partitions_with_it life:a_link_that_is_down_hurts_those_across_it"
         " life:another_board_in_the_same_place_is_noticed life:an_agent_that_flaps_delays_a_partition"
         " life:an_agent_that_stays_away_ends_in_error"),
    _row("versions of agents are shown, and a mixture is not refused", assumed("a refusal is nowhere"),
         "life:versions_of_agents_are_shown_and_not_judged", enforced="no"),
    _row("clients read devices of a GCD, of a machine in reverse order", POPTORCH_ERROR,
         "partitions:clients_read_a_gcd commands:ipuof_configurations_stand_below_one_line", "no-gcd", "in part"),
    _row("what a partition's clients read is its creator's alone", SHARING,
         "commands:the_creators_file_comes_and_goes"),
    _row("it lies in `~/.ipuof.conf.d`", PADDLE, "commands:the_creators_file_comes_and_goes"),
    _row("a workload occupies GCDs of an active partition", assumed("stands in for what runs"),
         "partitions:a_workload_occupies_a_gcd", "gcd-occupied"),
    _row("a workload is killed with its partition, by the text that was reported", POPTORCH_ERROR,
         "life:whoever_runs_on_a_partition_loses_it"),
    _row("the state is one file, `vipu-server.json`, read at a start", SECURING,
         "random:whatever_is_asked_nothing_is_in_two_places life:a_restart_forgets_what_was_heard_of_agents"
         " life:what_happened_while_it_was_down_is_seen_afterwards"
         " storage:a_controller_that_is_killed_goes_on_where_it_was storage:a_broken_file_is_told_with_its_place"
         " storage:a_file_that_is_half_written_is_not_there storage:one_process_has_a_folder"
         " storage:only_its_owner_reads_the_folders_files"),
    _row("storage and certificates are what a backup has", SECURING,
         "storage:a_backup_brings_back_what_was_there_then"
         " storage:what_is_no_backup_is_refused_with_nothing_changed"),
    _row("answers get lost, before or after a call was done", assumed("simulator"),
         "storage:an_answer_that_is_lost_was_done_or_not", "injected"),
    _row("the controller looks at agents by itself and logs", ARCHITECTURE,
         "storage:a_controller_sees_a_failure_that_nobody_asks_about life:what_happened_is_in_the_log"),
    _row("a client waits until a partition is settled, and gives up", assumed("public clients poll for a final state"),
         "commands:waiting_ends", "late"),
    _row("tables have the columns that were seen, and newer releases one more", SCRIPTS,
         "commands:partitions_are_a_table_whose_columns_drift"),
    _row("`--server-version` says a release, and below it host and port",
         assumed("public job scripts cut host and port out of the second line; what the first says is nowhere"),
         "commands:a_release_stands_above_the_address_it_is_read_from"),
    _row("exit code 1 for what is refused, 2 for words that no command has", assumed(),
         "commands:what_is_refused_is_one_line_and_exit_code_1 commands:wrong_words_are_exit_code_2"
         " commands:wrong_words_of_the_server_are_told commands:a_controller_that_is_away_is_told", "unreached"),
    _row("settings come from flags, `VIPU_CLI_API_HOST`, and a file", USERS,
         "commands:the_host_may_stand_in_a_variable commands:the_file_leads_to_the_user_api"),
    _row("an operator's spelling of an unverified flag is taken", assumed("simulator"),
         "commands:an_operators_spelling_of_an_unverified_flag_is_taken"),
    _row("what it says of itself: a simulator", assumed("simulator"),
         "commands:help_says_what_it_is storage:the_simulators_own_commands commands:programs_for_path"),
)  # fmt: skip

#: Command -> a test that runs it.
COMMAND_TESTS: Mapping[str, str] = MappingProxyType({
    "create agent": "commands:success_is_told_as_in_the_guide",
    "update agent": "partitions:agents_in_maintenance_get_no_partition",
    "remove agent": "clusters:agents_come_and_go",
    "get agent": "clusters:agents_come_and_go",
    "list agent": "clusters:agents_come_and_go",
    "discover agent": "life:foreign_agents_are_heard_where_the_back_end_is_shared",
    "create cluster": "clusters:two_racks_are_one_cluster_over_gateway_links",
    "remove cluster": "clusters:a_cluster_goes_when_nothing_is_in_it",
    "get cluster": "commands:every_list_is_a_table_too",
    "list cluster": "commands:json_is_as_the_public_client_reads_it",
    "create allocation": "allocations:allocations_are_agents_of_one_cluster",
    "update allocation": "allocations:of_two_admins_the_last_one_has_the_list",
    "remove allocation": "allocations:an_allocation_in_use_stays",
    "get allocation": "allocations:allocations_are_agents_of_one_cluster",
    "list allocation": "commands:allocations_are_a_table_as_in_the_guide",
    "create user": "commands:a_users_key_and_file_are_as_in_the_guide",
    "update user": "allocations:another_key_ends_the_old_one",
    "remove user": "allocations:a_user_who_goes_leaves_its_partitions",
    "get user": "allocations:a_key_has_the_shape_of_the_guides_and_is_told_once",
    "list user": "commands:every_list_is_a_table_too",
    "create partition": "commands:json_is_as_the_public_client_reads_it",
    "reset partition": "commands:json_is_as_the_public_client_reads_it",
    "remove partition": "commands:json_is_as_the_public_client_reads_it",
    "get partition": "commands:ipuof_configurations_stand_below_one_line",
    "list partition": "commands:partitions_are_a_table_whose_columns_drift",
    "list ipu-attr": "partitions:attributes_are_those_of_the_guide",
    "occupy partition": "partitions:a_workload_occupies_a_gcd",
    "vacate partition": "partitions:a_workload_occupies_a_gcd",
})  # fmt: skip


def all_rows() -> tuple[ConformanceRow, ...]:
    """Commands, then rules."""
    commands = tuple(
        ConformanceRow(f"`{item.words}`", item.source, "yes", (COMMAND_TESTS[item.words],)) for item in COMMANDS
    )
    return commands + RULES


def place_of_test(name: str) -> tuple[str, str]:
    """The file and the function that a row names."""
    file, _, function = name.partition(":")
    return f"tests/vipu/test_vipu_{file}.py", f"test_{function}"


def conformance_cells() -> list[list[str]]:
    """Rows of the table: rule, source, whether it is enforced, tests."""
    return [
        [row.rule, str(row.source), row.enforced, ", ".join(f"`{name}`" for name in row.tests)] for row in all_rows()
    ]


def unverified_cells() -> list[list[str]]:
    """Rows of the table of flags that an operator has to look up."""
    both = [(flag, "`vipu`, `vipu-admin`") for flag in FLAGS] + [(flag, "`vipu-server`") for flag in SERVER_FLAGS]
    alone = [[f"`{flag.name}`", program, flag.help] for flag, program in both if flag.source.unverified]
    of_commands = [item for item in COMMANDS if item.flags_assumed]
    return alone + [[f"`{name}` of `{item.words}`", "`vipu-admin`", item.flags_assumed] for item in of_commands
                    for name in item.flags]  # fmt: skip
