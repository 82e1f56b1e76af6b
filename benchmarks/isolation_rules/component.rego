# Two tenants in one connected component: networks on their VLANs, servers on the networks of their ports.
package isolation

segment(network) := concat(":", [network.physical_network, format_int(network.vlan, 10)])

near[network.id] contains segment(network) if some network in input.networks

near[segment(network)] contains network.id if some network in input.networks

near[port.server] contains port.network if some port in input.ports

near[port.network] contains port.server if some port in input.ports

owner[item.id] := item.tenant if {
	some item in array.concat(input.networks, input.servers)
	item.tenant != null
}

own[tenant] contains node if some node, tenant in owner

conflicts contains [tenant, other] if {
	some tenant, nodes in own
	some node in graph.reachable(near, nodes)
	other := owner[node]
	tenant < other
}
