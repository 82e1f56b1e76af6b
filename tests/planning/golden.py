"""The plans of a small two-tenant site as files; `python -m tests.planning.golden` writes them anew."""

from __future__ import annotations

import json
from pathlib import Path

from interlock.planning import Plan, plan_site, plan_tenant
from tests.builders.pod64 import locked, pod64, site_locked, tenant

FOLDER = Path(__file__).parent / "golden"


def plans() -> dict[str, Plan]:
    """The plans of the site, of acme (4 machines, 2 servers) and of globex (8 machines, 1 server)."""
    site = pod64()
    site_lock = site_locked(site)
    acme, globex = tenant("acme"), tenant("globex", machines=8, servers=1)
    acme_lock = locked(site, acme)
    globex_lock = locked(site, globex, [acme_lock])
    return {
        "site": plan_site(site, site_lock),
        "acme": plan_tenant(site, site_lock, acme, acme_lock),
        "globex": plan_tenant(site, site_lock, globex, globex_lock),
    }


def text_of(plan: Plan) -> str:
    """The plan without the hashes of its inputs, which change with every field of the site."""
    content = plan.canonical()
    del content["site_hash"], content["request_hash"]
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    """Write the files anew."""
    FOLDER.mkdir(exist_ok=True)
    for name, plan in plans().items():
        (FOLDER / f"{name}.json").write_text(text_of(plan), encoding="utf-8")


if __name__ == "__main__":
    main()
