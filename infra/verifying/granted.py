"""What of a certificate nothing here confirms, field by field, with the reason; and waivers beside those of files."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

#: Place in a certificate, `*` for any key or number -> what it says and why no file shows it. What stands here decides
#: no verdict: whoever alters it wins nothing but what a reader makes of the words.
GRANTED: dict[str, str] = {
    "date": "the day on which it was made; waivers count by the day of the check",
    "boundary.*": "the versions of boundary nodes: digests over locks as the proof read them; an apply has its own",
    "judgement.boundary": "their digest",
    "judgement.applied_state": "what is applied: that is in the operator's store, which is not read here",
    "judgement.footprints": "which locks it was judged beside, where it says that it looked at what is applied",
    "judgement.rule_set": "the digest of titles and polarities of rules; what was asked is compared rule by rule",
    "judgement.results.*.title": "the titles of rules",
    "judgement.results.*.verdict": "of a rule that finds nothing, whether it had anything to look at",
    "judgement.results.*.count": "how many things each rule looked at",
    "judgement.results.*.findings": "the words of findings that decide nothing, and whether there are any",
    "judgement.waivers.*.hint": "the hints at waivers",
    "statement.unknown": "which facts are unstated, by name; the edges that they add are compared",
    "digest": "nothing by itself: anybody can make the digest",
}
_WAIVER = ("rule", "owner", "reason", "expires")
#: Kinds of resources that nothing can make yet.
NOT_MADE = frozenset(
    {
        "NvlinkPartition",
        "RbacPolicy",
        "Trunk",
    }
)
#: Kinds that controllers of V-IPU are told of, by `interlock` where the site says so.
OF_VIPU = frozenset({"VipuAgent", "VipuAllocation", "VipuCluster", "VipuPartition", "VipuUser"})


def is_not_made(item: Json) -> bool:
    """True if no actuator makes a planned resource.

    A switch port only Neutron's does, where Neutron wires the switch, or Ironic with the host behind it; a whole host
    only Ironic's, where there is one; a bucket's policy only that of object storage which enforces it; a credential
    only where it is handed to a server; an object of V-IPU only where its site has controllers told by `interlock`.
    """
    by_others = item["kind"] == "SwitchPort" and item["spec"]["wired_by"] not in ("neutron", "ironic")
    by_nobody = item["kind"] == "BareMetalServer" and item["spec"]["resource_class"] is None
    by_nobody |= item["kind"] == "BucketPolicy" and not item["spec"].get("enforced_by")
    by_nobody |= item["kind"] == "StoredCredential" and not item["spec"].get("item")
    by_nobody |= item["kind"] in OF_VIPU and item["spec"]["managed_by"] != "interlock"
    return by_others or by_nobody or item["kind"] in NOT_MADE


def waiver_faults(judgement: Json, stated: list[Json], day: str) -> list[str]:
    """Waivers are those of the file, word for word; whether each is in use follows from its last day and its rule.

    `stated`: those of the request, or for the operator's stack of the site file; `day`: of the certificate.
    """
    known = [tuple(str(item[key]) for key in _WAIVER) for item in stated]
    said = [tuple(item[key] for key in _WAIVER) for item in judgement["waivers"]]
    faults = [f"nobody states the waiver of {row[0]} that it names" for row in said if row not in known]
    faults += [f"it does not name the waiver of {row[0]}" for row in known if row not in said]
    if len(set(said)) < len(said):
        faults.append("it names a waiver twice")
    findings = {item["rule"]: len(item["findings"]) for item in judgement["results"]}
    for item in judgement["waivers"]:
        found = findings.get(item["rule"], 0)
        state = "expired" if day > item["expires"] else "used" if found else "unused"
        if (item["state"] if item["rule"] in findings else state) != state or item["findings"] != found:
            faults.append(f"the waiver of {item['rule']} is {state}, with {found} findings")
    return faults
