"""Mutants that nothing can notice, each with the reason; a line that is changed since has to be looked at again."""

from __future__ import annotations

#: Mutant (module, function, line, place in it, before and after) -> why the code does the same.
EQUIVALENT: dict[str, str] = {
    ("infra/checker/isolation.py:audience_faults: if is_away and names: @3 [is_away and names] => [(is_away)]"): (
        "what names no declaration is for no audience, so nothing is told of it: only work is saved"
    ),
    ("policies/edges/guarded.py:_broken: return GuardState(value=False, broken=(fact,)) @24 [False] => [True]"): (
        "a state that holds gives its guards to the edge, and this one has none: the edge is the same, and broken"
    ),
    (
        "policies/edges/operated.py:_handed_out: flavor = site.site.flavor.get(Reference.name_in(reference, "
        'Scheme.SITE, Flavor.KIND) or "") @30 [Reference.name_in(reference, Scheme.SITE, Flavor.KIND) or ""] '
        "=> [(Reference.name_in(reference, Scheme.SITE, Flavor.KIND))]"
    ): ("no flavour is called None, nor by an empty name"),
    (
        'policies/edges/plan.py:_virtual_functions: if port.vnic_type == "direct" and network.segment != '
        "EVERY_VLAN_IDS[-1]: @68 [-1] => [+1]"
    ): ("0 and 4095 are all there are: the second is the last"),
    (
        "policies/edges/plan_fragment.py:_hands_out_devices: flavor = "
        'facts.site.site.flavor.get(Reference.name_in(server.flavor, Scheme.SITE, Flavor.KIND) or "") @36 '
        '[Reference.name_in(server.flavor, Scheme.SITE, Flavor.KIND) or ""] => '
        "[(Reference.name_in(server.flavor, Scheme.SITE, Flavor.KIND))]"
    ): ("no flavour is called None, nor by an empty name"),
    (
        'policies/edges/plan_fragment.py:_labelled: if machine is not None and "rnic" in '
        'parts_at(facts.site.site, at): @3 [machine is not None and "rnic" in parts_at(facts.site.site, at] '
        '=> [("rnic" in parts_at(facts.site.site, at)]'
    ): ("what is no machine has no parts: the first question is asked for the type checker"),
    (
        'policies/edges/plan_fragment.py:_port_premises: placed = metal if port.vnic_type == "baremetal" and '
        'facts.site.is_bare_metal(port.host or "") else bridges @77 [port.host or ""] => [(port.host)]'
    ): ("no host is called None, nor by an empty name"),
    (
        'policies/edges/premises.py:_ruled: places = {("bucket", item.name) for item in plan.buckets} | '
        '{("share", item.name) for item in plan.shares} @58 [|] => [^]'
    ): ("buckets and shares are named with their kind: no two of them are alike"),
    (
        "policies/edges/shape.py:Union._reached: inner = (vlan for tag in self.vlans for vlan in "
        "mode.inside(tag) | mode.perhaps_inside(tag)) @65 [|] => [^]"
    ): ("what is inside for certain is never among what may be: the two have nothing in common"),
    (
        "policies/edges/terminals.py:instances: if switch.ip_routing is not False and switch.routed_vlans != "
        "(): @3 [switch.ip_routing is not False and switch.routed_vlans != (] => [(switch.ip_routing is not "
        "False]"
    ): ("an instance without VLANs joins nothing"),
    (
        "policies/edges/union.py:_host_segments: named = {node for node in union.nodes if isinstance(vlan := "
        "parse(node), VlanNode) and vlan.is_of_host} @41 [isinstance(vlan := parse(node), VlanNode) and "
        "vlan.is_of_host] => [(isinstance(vlan := parse(node), VlanNode))]"
    ): ("no bridge of a switch has an uplink, so its VLANs yield nothing"),
    (
        "policies/edges/unlisted.py:passed_through: flavor = site.flavor.get(Reference.name_in(reference, "
        'Scheme.SITE, Flavor.KIND) or "") @25 [Reference.name_in(reference, Scheme.SITE, Flavor.KIND) or ""] '
        "=> [(Reference.name_in(reference, Scheme.SITE, Flavor.KIND))]"
    ): ("no flavour is called None, nor by an empty name"),
    (
        "policies/edges/unlisted.py:unlisted_attachments: if roles.get(end.device, _ONE_ATTACHMENT[0]) not "
        "in _ONE_ATTACHMENT: @41 [0] => [-1]"
    ): ("each role of the pair is in the pair, which is all that is asked"),
    (
        "policies/edges/unlisted.py:unlisted_attachments: if roles.get(end.device, _ONE_ATTACHMENT[0]) not "
        "in _ONE_ATTACHMENT: @41 [0] => [1]"
    ): ("each role of the pair is in the pair, which is all that is asked"),
    (
        "policies/rules/host_room.py:_takers: own = {item.tuple for item in model.own.premises if "
        "item.relation == Relation.TAKES} @52 [item.relation == Relation.TAKES] => [True]"
    ): ("no premise of another relation is about the processors of a host, nor is one a fact of this relation"),
    (
        "policies/rules/host_room.py:_larger: amounts = tuple(max(pair, key=_weight) for pair in "
        "zip(a.amounts, b.amounts, strict=True)) @84 [True] => [False]"
    ): ("both have an amount of each quantity"),
    (
        "policies/rules/open_filters.py:_prefixes: found = [prefix_of(rule.remote_prefix) for "
        "_, rule in filters if rule.remote_prefix is not None] @65 [rule.remote_prefix is not None] => [True]"
    ): ("a filter without a prefix is no part of a meeting: asked for the type checker"),
    (
        "policies/rules/open_filters.py:_prefixes: of_six = collapse_addresses(prefix for prefix in found if "
        "isinstance(prefix, IPv6Network)) @58 [isinstance(prefix, IPv6Network)] => [True]"
    ): ("filters that meet are of one version, and no prefix of IPv4 meets one of IPv6"),
    (
        "policies/rules/infiniband.py:_Key.bits: return node.key if isinstance(node, PartitionKeyNode) else 0"
        " @59 [0] => [1]"
    ): ("the node of a key is one: the other number is for the type checker"),
    (
        "policies/rules/infiniband.py:_Key.bits: return node.key if isinstance(node, PartitionKeyNode) else 0"
        " @59 [0] => [-1]"
    ): ("the node of a key is one: the other number is for the type checker"),
    (
        "policies/rules/hypervisors.py:_servers: yield from (node.name for node in nodes if isinstance(node, "
        "ServerNode)) @43 [isinstance(node, ServerNode)] => [True]"
    ): ("what runs on a hypervisor is a server: asked for the type checker"),
    (
        "policies/rules/links.py:_links: mine = (node for node, labels in model.labels.items() if "
        "model.plan.owner in labels) @57 [model.plan.owner in labels] => [True]"
    ): ("pairs of which the plan's owner has no machine are left out after that: only work is saved"),
    (
        "policies/facts/port_modes.py:PortMode.natives_of: if not (self.known and self.untagged): @8 "
        "[self.known and self.untagged] => [(self.known)]"
    ): ("of no native VLANs none is found: the question only saves work"),
    "policies/facts/port_modes.py:: NO_PORT = 0 @10 [0] => [-1]": ("ports are numbered from 1"),
    (
        "policies/facts/port_modes.py:PortMode.inside: return frozenset(mapped | (set() if self._is_taken(tag) "
        "else self._plain(tag))) @24 [|] => [^]"
    ): ("the plain id is left out wherever a translation leads to it: the two have nothing in common"),
    (
        "policies/facts/port_modes.py:PortMode.perhaps_inside: return frozenset(found | (self._plain(tag) if "
        "self._is_taken(tag) else set())) @23 [|] => [^]"
    ): ("the plain id is left out wherever a translation leads to it: the two have nothing in common"),
    (
        "policies/facts/logical_ports.py:_groups: return {end: tuple(sorted(found, key=_place)) for end, "
        "found in group.items() if len(found) > 1} @81 [len(found) > 1] => [True]"
    ): ("a port in no bundle is one by itself anyway"),
    (
        "policies/facts/logical_ports.py:_groups: return {end: tuple(sorted(found, key=_place)) for end, "
        "found in group.items() if len(found) > 1} @92 [>] => [>=]"
    ): ("a port in no bundle is one by itself anyway"),
    (
        "policies/facts/logical_ports.py:_groups: return {end: tuple(sorted(found, key=_place)) for end, "
        "found in group.items() if len(found) > 1} @94 [1] => [0]"
    ): ("a port in no bundle is one by itself anyway"),
    (
        "policies/facts/logical_ports.py:one_mode: tagged=None if None in lists else "
        "tuple(dict.fromkeys(item for found in lists for item in found or ())), @90 [found or (] => [(found]"
    ): ("a port without a list has been asked about before"),
    (
        "policies/authority/closure.py:Authority.concerned: return tuple(owner for owner in self.stated."
        "owners if who.principal(owner) in found) @54 [who.principal(owner) in found] => [True]"
    ): (
        "an owner of whom no grant leads to the plan has no leak through it, and `leaks_of` asks "
        "for that again: only work is saved"
    ),
    (
        "policies/authority/closure.py:_stated: return Stated(model.union, tuple(sorted(shares - {ids.OP"
        "ERATOR} | {ids.FOREIGN, ids.WORLD}))) @64 [|] => [^]"
    ): ("no tenant can be called foreign or world: the two sets have nothing in common"),
    (
        "policies/authority/closure.py:leaks_of: own |= authority.stated.called_like(own) | "
        "authority.stated.meant_by(own) @41 [|] => [^]"
    ): ("references that nobody resolved and what they mean have nothing in common"),
    (
        "policies/authority/grants.py:Stated.alike: return {node: min(nodes) for node, nodes in found if"
        " len(nodes) == 1} @14 [min] => [max]"
    ): ("of a set with one element"),
    (
        'policies/rules/budget.py:_within: if cost.budget is not None and cost.budget.verdict == "over": '
        '@3 [cost.budget is not None and cost.budget.verdict == "over"] => [(cost.budget.verdict == "over")]'
    ): ("a cost that is asked beside a budget has it: the first question is asked for the type checker"),
    "policies/rules/controllers.py:_joined_behind: if len(owners) < 2: @17 [2] => [1]": (
        "from one tenant's ports no way leads to another's port where there is none: only work is saved"
    ),
    (
        'policies/rules/data_network.py:_members: server = model.plan.server.get(port.server or "") @31 '
        '[port.server or ""] => [(port.server)]'
    ): ("no server is called None, nor by an empty name"),
    (
        "policies/rules/data_network.py:_vpods_joined: if len(model.plan.vpods) < 2 or not "
        "model.plan.separates_vpods: @3 [len(model.plan.vpods) < 2 or not model.plan.separates_vpods] => "
        "[(not model.plan.separates_vpods)]"
    ): ("one vPOD is joined with no other: only work is saved"),
    (
        "policies/rules/data_network.py:_vpods_joined: if len(model.plan.vpods) < 2 or not "
        "model.plan.separates_vpods: @27 [2] => [1]"
    ): ("one vPOD is joined with no other: only work is saved"),
    (
        "policies/rules/data_network.py:_way_to: path = path or shortest(graph, wire, lambda item: item == node, "
        "within=around) or (node,) @7 [path or shortest(graph, wire, lambda item: item == node, within=around) or "
        "(node,] => [(path or shortest(graph, wire, lambda item: item == node, within=around)]"
    ): ("what is plugged in is joined with the segment, so there is a way: the last is for the type checker"),
    (
        'policies/rules/exposure.py:_wrong_target: server = plan.server.get(port.server or "") @25 '
        '[port.server or ""] => [(port.server)]'
    ): ("no server is called None, nor by an empty name"),
    "policies/authority/closure.py:: READ = 1 @7 [1] => [0]": ("the two are compared with each other alone"),
    "policies/authority/closure.py:: WRITE = 2 @8 [2] => [3]": ("the two are compared with each other alone"),
    (
        "policies/rules/failed_machines.py:_why_in_pieces: if len(left) == len(members) or not left or cut(model, "
        "members) is not None: @3 [len(left) == len(members) or not left or cut(model, members) is not None] => "
        "[(not left or cut(model, members) is not None)]"
    ): "where nothing failed, what is left is all: in one piece as all of it is",
    (
        "policies/rules/failed_machines.py:_why_in_pieces: if len(left) == len(members) or not left or cut(model, "
        "members) is not None: @3 [len(left) == len(members) or not left or cut(model, members) is not None] => "
        "[(len(left) == len(members) or cut(model, members) is not None)]"
    ): "of no machine there are no pieces: the question only saves work",
    (
        "policies/rules/failed_machines.py:_why_in_pieces: if len(left) == len(members) or not left or cut(model, "
        "members) is not None: @29 [or] => [and]"
    ): "either question only saves work: what is left is all, or nothing, and in one piece",
    ("policies/rules/quarantine.py:_way: return (here[0],) @13 [0] => [1]"): (
        "whoever made it a meeting is on the same segment, so there is a way: the line is there for the type checker"
    ),
    ("policies/rules/quarantine.py:_way: return (here[0],) @13 [0] => [-1]"): (
        "whoever made it a meeting is on the same segment, so there is a way: the line is there for the type checker"
    ),
    (
        "policies/rules/segments.py:_claim_cause: path = shortest(graph, [mine.node], lambda node: node i"
        "n _nodes_of(model, wire, other), within=wire) or (mine.node,) @7 [shortest(graph, [mine.node], l"
        "ambda node: node in _nodes_of(model, wire, other), within=wire) or (mine.node,] => [(shortest(gr"
        "aph, [mine.node], lambda node: node in _nodes_of(model, wire, other), within=wire)]"
    ): ("both claims are on one wire, so there is a way along it: the other answer is there for the type checker"),
    (
        "policies/rules/separation.py:_segment_cause: path = meeting(graph.subgraph(around), model.labels"
        ", around, model.plan.owner) or (min(wire),) @7 [meeting(graph.subgraph(around), model.labels, ar"
        "ound, model.plan.owner) or (min(wire),] => [(meeting(graph.subgraph(around), model.labels, aroun"
        "d, model.plan.owner)]"
    ): ("what is on one segment has a way along it: the other answer is there for the type checker"),
    (
        "policies/rules/separation.py:_segment_cause: path = meeting(graph.subgraph(around), model.labels"
        ", around, model.plan.owner) or (min(wire),) @83 [min] => [max]"
    ): ("what is on one segment has a way along it: the other answer is there for the type checker"),
    (
        "policies/rules/trunks.py:_conflict: return shortest(graph, sorted(ours), theirs.__contains__, wi"
        "thin=wire) or () @7 [shortest(graph, sorted(ours), theirs.__contains__, within=wire) or (] => [("
        "shortest(graph, sorted(ours), theirs.__contains__, within=wire)]"
    ): ("both claims are on one wire, so there is a way along it: the other answer is there for the type checker"),
    (
        "policies/edges/audience.py:outsiders: limited = [copy for copy in copies(union) if not "
        "welcome(copy.declared, EVERYBODY)] @45 [not welcome(copy.declared, EVERYBODY)] => [True]"
    ): (
        "whom everybody's audience names is welcome: a copy of such a declaration has no outsiders, and is "
        "only looked at for nothing"
    ),
    ("policies/edges/audience.py:_Classes.around: for known in self._found: @13 [self._found] => [[]]"): (
        "what was found before is found again: only work is saved"
    ),
    (
        "policies/facts/plan.py:_Found.of: return tuple(fact for fact in self.by_type.get(kind, ()) if "
        "isinstance(fact, kind)) @60 [isinstance(fact, kind)] => [True]"
    ): ("facts are kept by their type: the question is asked for the type checker"),
    ("policies/graph/kernel.py:: ENOUGH = 700_000 @9 [700_000] => [700001]"): (
        "both ways of finding them give the same answer: only the time until it is there is another"
    ),
    ("policies/graph/kernel.py:: ENOUGH = 700_000 @9 [700_000] => [699999]"): (
        "both ways of finding them give the same answer: only the time until it is there is another"
    ),
    ("policies/graph/kernel.py:: PART = 1 << 16 @7 [1] => [2]"): (
        "whatever the size of a part, all of them are gone through: only the time that it takes is another"
    ),
    ("policies/graph/kernel.py:: PART = 1 << 16 @12 [16] => [17]"): (
        "whatever the size of a part, all of them are gone through: only the time that it takes is another"
    ),
    ("policies/graph/kernel.py:: PART = 1 << 16 @12 [16] => [15]"): (
        "whatever the size of a part, all of them are gone through: only the time that it takes is another"
    ),
    ("policies/graph/kernel.py:plain_components: if a < b: @5 [<] => [<=]"): (
        "where both are one node, either branch makes it its own parent, which it is"
    ),
    ("policies/graph/kernel.py:_gathered: on = np.full(count, -1, dtype=np.int32) @21 [1] => [2]"): (
        "all that is asked of it is whether it is less than every node"
    ),
    (
        "policies/graph/kernel.py:_searched: _, found = connected_components(matrix, directed=False) "
        "@49 [False] => [True]"
    ): ("of a directed graph scipy finds the weak components by default, which are those of the undirected one"),
    ("policies/graph/search.py:meeting: if len(owners) < 2: @17 [2] => [1]"): (
        "beside a single owner nobody else is looked for, so nobody is found: only work is saved"
    ),
    ("policies/facts/user_data.py:_gunzipped: member = zlib.decompressobj(wbits=31) @34 [31] => [32]"): (
        "32 is gzip or zlib, whichever the data begin with: these begin with what gzip begins with"
    ),
    ("policies/facts/user_data.py:_unxzed: reader = lzma.LZMADecompressor(memlimit=64 << 20) @40 [64] => [63]"): (
        "the greatest dictionary that xz can name below 64 MiB is one of 48 MiB, and one of 64 MiB needs more than that"
    ),
}
