"""One audit of a site of so many tenants: the seconds of reading the lists and of holding the stacks against them.

Run as a process of its own: `auditing.py WAY`, INTERLOCK_STACKS naming the folder of sites. The cloud is one on paper
(tests/builders/paper_cloud.py), so no time of any service is in it; the JSON of the lists is read as it would be.
WAY `load` ends before the audit: what is left of the difference is the audit's.
"""

from __future__ import annotations

import json
import sys
import time

from benchmarks.halls import SITE
from infra.audit.comparison import audit
from infra.program.claiming import Applied
from infra.program.gate import Gate
from interlock.provider.audit.listing import listed
from tests.builders.paper import Paper
from tests.builders.paper_cloud import PaperCloud


def main(way: str) -> dict[str, float]:
    """What was measured."""
    gate = Gate(Gate.open(SITE).workspace, Applied({}))
    cloud = PaperCloud(Paper.of(gate.plan(tenant) for tenant in gate.stacks()))
    before = time.process_time()
    listed(cloud)
    lists = time.process_time() - before
    if way == "load":
        return {"lists": lists}
    before = time.process_time()
    found = audit(gate, cloud)
    whole = time.process_time() - before
    if found.has_drifted:
        raise SystemExit("the cloud on paper is not what was planned")
    return {"lists": lists, "audit": whole, "objects": found.objects, "requests": found.requests}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
