"""Mutants that nothing can notice, each with the reason; a line that is changed since has to be looked at again."""

from __future__ import annotations

#: Mutant (module, function, line, place in it, before and after) -> why the code does the same.
EQUIVALENT: dict[str, str] = {
    "policies/edges/guarded.py:_broken: return GuardState(value=False, broken=(fact,)) @24 [False] => [True]": (
        "a state that holds gives its guards to the edge, and this one has none: the edge is the same, and broken"
    ),
    (
        'policies/edges/plan.py:_virtual_functions: if port.vnic_type == "direct" an'
        "d network.segment != EVERY_VLAN_IDS[-1]: @68 [-1] => [+1]"
    ): ("0 and 4095 are all there are: the second is the last"),
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
        "policies/authority/grants.py:Stated.alike: return {node: min(nodes) for node, nodes in found if"
        " len(nodes) == 1} @14 [min] => [max]"
    ): ("of a set with one element"),
    "policies/authority/closure.py:: READ = 1 @7 [1] => [0]": ("the two are compared with each other alone"),
    "policies/authority/closure.py:: WRITE = 2 @8 [2] => [3]": ("the two are compared with each other alone"),
}
