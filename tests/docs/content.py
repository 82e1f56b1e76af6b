"""What the generated parts of the pages say, each from the code that it is about.

A part takes what stood there before, since the words of some columns are written by hand and kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import groupby

import components
import infra
import infra.access
import infra.audit
import infra.break_glass
import infra.checker
import infra.cli
import infra.commands
import infra.controllers
import infra.fabrics
import infra.locking
import infra.program
import infra.reports
import infra.stack
import infra.switches
import infra.verifying
import interlock.channel
import interlock.hardware
import interlock.hardware.gpu
import interlock.model
import interlock.model.evidence
import interlock.model.lock
import interlock.model.rack
import interlock.model.site
import interlock.model.tenant
import interlock.model.text
import interlock.object_storage
import interlock.planning
import interlock.planning.guest
import interlock.planning.scheduler
import interlock.provider
import interlock.resources
import interlock.store
import interlock.switches
import interlock.ufm
import interlock.vipu
import interlock.vocabulary
import policies
import policies.authority
import policies.edges
import policies.facts
import policies.findings
import policies.footprints
import policies.graph
import policies.rules
from infra.cli.command_group import COMMANDS, PASSED_ON
from infra.cli.exits import Exit
from infra.program.gate import Gate
from interlock.model.evidence.accepting import RUNS
from interlock.model.evidence.controller_file import ControllerEvidenceFile
from interlock.model.evidence.fabric_file import FabricEvidenceFile
from interlock.model.evidence.file import EvidenceFile
from interlock.model.evidence.steps import STEPS
from interlock.model.evidence.switch_file import SwitchEvidenceFile
from interlock.model.site.file import SiteFile
from interlock.model.site.guards import ASSUMPTION_GUARDS, GUARDS_OF_SETTLING, SHARING_GUARDS
from interlock.model.tenant.file import TenantFile
from interlock.model.text import errors
from interlock.object_storage import Capability, asked_kinds, object_storage
from interlock.planning import nameable
from interlock.planning.makeable import WHY_NO_COPY
from interlock.provider.actuators import ACTUATORS
from interlock.provider.markers import CARRIERS
from interlock.provider.schema import COMMON
from interlock.resources import KINDS, Resource
from interlock.resources.existing import STATED
from interlock.switches.file import SwitchesFile
from interlock.ufm.file import FabricsFile
from interlock.vipu.file import VipuFile
from interlock.vipu.flags import WORDS
from interlock.vocabulary import ExistingObject
from policies.rules import RULES
from tests.provider import ends
from tests.support.world import declared

from . import gpu_catalogue, gpu_software, vipu_simulator
from .file_keys import Key, keys
from .pages import ROOT
from .tables import UNWRITTEN, code, explained, kept, table
from .tree import tree

ROOMS = (
    infra, infra.program, infra.cli, infra.commands, infra.stack, infra.locking, infra.access, infra.audit,
    infra.break_glass, infra.switches, infra.fabrics, infra.controllers, infra.reports, infra.checker, infra.verifying,
    components,
    policies, policies.findings, policies.rules, policies.footprints, policies.authority, policies.graph,
    policies.edges, policies.facts, interlock.provider, interlock.planning, interlock.planning.guest,
    interlock.planning.scheduler,
    interlock.channel, interlock.switches, interlock.ufm, interlock.vipu,
    interlock.store,
    interlock.model, interlock.model.site, interlock.model.rack, interlock.model.tenant, interlock.model.lock,
    interlock.model.evidence,
    interlock.model.text,
    interlock.hardware, interlock.hardware.gpu, interlock.object_storage, interlock.resources, interlock.vocabulary,
)  # fmt: skip

_CODE = re.compile(r"^(?P<code>IN-\d{3})  (?P<meaning>.+)$", re.MULTILINE)


def acme_tree(_old: str) -> str:
    """The component tree of the plan of lyon's tenant acme."""
    return f"```text\n{tree(Gate.open('lyon').plan('acme'))}\n```"


def hall_tree(_old: str) -> str:
    """The component tree of the plan of hall's tenant acme."""
    return f"```text\n{tree(Gate.open('hall').plan('acme'))}\n```"


def tenant_keys(old: str) -> str:
    """Every key of a tenant's file."""
    return _keys(list(keys(TenantFile)), old)


def site_keys(old: str) -> str:
    """Every key of a site's file: one table for the plain ones, one for each other key of the first level."""
    found = list(keys(SiteFile))
    tops = {top: list(group) for top, group in groupby(found, lambda key: key.top)}
    plain = [group[0] for group in tops.values() if len(group) == 1]
    parts = [_keys(plain, old)]
    parts += [f"### {top}\n\n{_keys(group, old)}" for top, group in tops.items() if len(group) > 1]
    return "\n\n".join(parts)


def switches_keys(old: str) -> str:
    """Every key of switches.yaml."""
    return _keys(list(keys(SwitchesFile)), old)


def fabrics_keys(old: str) -> str:
    """Every key of fabrics.yaml."""
    return _keys(list(keys(FabricsFile)), old)


def vipu_keys(old: str) -> str:
    """Every key of vipu.yaml."""
    return _keys(list(keys(VipuFile)), old)


def vipu_words(_: str) -> str:
    """Every flag that is used of V-IPU's commands, and where it was seen."""
    rows = [
        (code(word.name), code(word.usual) if word.usual else "none", word.help, word.source or "**unverified**")
        for word in WORDS
    ]
    return table(("name", "usual spelling", "what it is for", "seen in"), rows)


def evidence_keys(old: str) -> str:
    """Every key of a file of evidence."""
    return _keys(list(keys(EvidenceFile)), old)


def switch_evidence_keys(old: str) -> str:
    """Every key of a file that says that a switch is as stated."""
    return _keys(list(keys(SwitchEvidenceFile)), old)


def fabric_evidence_keys(old: str) -> str:
    """Every key of a file that says how a subnet manager is set."""
    return _keys(list(keys(FabricEvidenceFile)), old)


def controller_evidence_keys(old: str) -> str:
    """Every key of a file that says how a V-IPU controller is set."""
    return _keys(list(keys(ControllerEvidenceFile)), old)


def evidence_steps(_old: str) -> str:
    """The steps of each kind of identity."""
    rows = (
        [_in_words(kind.__name__), ", ".join(map(code, item.steps)) or "–", item.why] for kind, item in STEPS.items()
    )
    return table(["what was released", "steps, in this order", "why"], rows)


def acceptance_runs(_old: str) -> str:
    """What a runner runs for each step of acceptance, and where that is documented."""
    rows = ([code(step), ", ".join(map(code, run.commands)), run.source] for step, run in RUNS.items())
    return table(["step", "what shows it", "documented in"], rows)


def _in_words(name: str) -> str:
    """The name of an identity's type: `HeldSwitchPort` is a switch port."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.removeprefix("Held").removesuffix("Node")).lower()


def _keys(found: list[Key], old: str) -> str:
    """What the file model says of a key stands first; only where it says nothing, words are kept."""
    words = kept(old)
    rows = [
        [code(key.path), key.form, key.default, key.meaning or words.get(code(key.path), UNWRITTEN)] for key in found
    ]
    return table(["key", "form", "default", "meaning"], rows)


def existing_keys(_old: str) -> str:
    """What `existing:` may name, by kind: the keys of lyon, how ids are written, what is compared."""
    keys_of: dict[str, list[str]] = {}
    for key in nameable(Gate.open("lyon").workspace.site):
        keys_of.setdefault(ExistingObject.parse(key).kind, []).append(code(key))
    rows = []
    for kind, stated in STATED.items():
        compared = [*map(code, stated.fields), *(f"{code(name)}, what is stated of it" for name in stated.at_least)]
        left_out = [f"{code(name)}: {why}" for name, why in stated.left_out.items()]
        # Which flavors, images and volume types a site has, it says itself.
        named = ", ".join(keys_of.get(kind, [code(f"{kind}/<name>")]))
        rows.append([named, stated.ids, ", ".join(compared), "; ".join(left_out) or "–"])
    return table(["key", "id", "compared", "not compared"], rows)


def sharing_guards(old: str) -> str:
    """Guards of declared sharing."""
    rows = ([code(guard), kind] for kind, guards in SHARING_GUARDS.items() for guard in guards)
    return explained(["guard", "of kind", "meaning"], rows, old)


def assumption_guards(old: str) -> str:
    """Guards of assumptions."""
    known = ASSUMPTION_GUARDS | GUARDS_OF_SETTLING
    rows = ([code(f"{name}.{guard}")] for name, guards in known.items() for guard in guards)
    return explained(["guard", "meaning"], rows, old)


def bucket_capabilities(_old: str) -> str:
    """What each kind of object storage did when it was asked."""
    kinds = [object_storage(kind) for kind in asked_kinds()]
    head = ["setting", *(f"{item.kind} ({item.release}, asked {item.asked})" for item in kinds)]
    return table(head, ([code(name), *(str(item.capabilities[name]) for item in kinds)] for name in Capability))


def error_codes(_old: str) -> str:
    """Codes of input faults, each with a message that a test expects."""
    messages = _expected_messages()
    listed = ((found["code"], found["meaning"]) for found in _CODE.finditer(errors.__doc__ or ""))
    rows = ([name, meaning, messages.get(name, "–")] for name, meaning in listed)
    return table(["code", "what is wrong", "for example"], rows)


def _expected_messages() -> dict[str, str]:
    """Code -> the first message with it among the expected ones."""
    found: dict[str, str] = {}
    for path in sorted((ROOT / "tests" / "errors").glob("*/*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if match := re.search(r": (IN-\d{3}) (.+)$", line):
                # The site of the error examples is no folder of the project.
                found.setdefault(match[1], match[2].replace("stacks/yard/", "stacks/lyon/"))
    return found


def rules(_old: str) -> str:
    """Every rule, in the order of reports."""
    rows = ([rule.id, rule.title, str(rule.severity), rule.why, ", ".join(rule.needs), rule.source] for rule in RULES)
    return table(["rule", "what it proves", "severity", "why", "what it looks at", "source"], rows)


def kinds(_old: str) -> str:
    """Every resource kind: fields, effects, outputs, owner id."""
    return "\n\n".join(_kind_section(kind) for kind in KINDS.values())


def _kind_section(kind: type[Resource]) -> str:
    doc = " ".join((kind.__doc__ or "").split())
    parts = [f"### {kind.KIND}", doc, _fields(kind), _carried(kind), _computed(kind)]
    if kind.HOLDS_DATA:
        parts.append(_data(kind))
    return "\n\n".join(part for part in parts if part)


def _data(kind: type[Resource]) -> str:
    """What its deletion does to the data."""
    if kind.KIND in WHY_NO_COPY:
        return "Holds data: deleting it is refused unless `on_delete` is `erase`. It takes no `snapshot`."
    return "Holds data: deleting it is refused where `on_delete` is `keep`; with `snapshot` a copy is made first."


def replaced_kinds(_old: str) -> str:
    """How `pulumi up --replace` ends for each kind of a tenant's stack, as a test tries it."""
    plan = declared.tenant("alice", 2100)
    along: dict[str, set[str]] = {}
    for name, others in ends.ANEW.items():
        along.setdefault(plan[name].KIND, set()).update(plan[other].KIND for other in others)
    rows = [
        [
            code(kind),
            "recreated" + (", same id" if kind in ends.SAME_ID else ""),
            ", ".join(sorted(map(code, kinds_))) or "–",
        ]
        for kind, kinds_ in along.items()
    ]
    rows += [[code(kind), "refused", reason] for kind, (_, reason) in ends.REFUSED.items()]
    return table(["kind", "ends", "along with it; or why not"], rows)


def _fields(kind: type[Resource]) -> str:
    changes, references = kind.changes(), kind.reference_fields()
    rows = []
    for name, field in kind.model_fields.items():
        default = "required" if field.is_required() else _shown(field.default)
        refers = ", ".join(references[name].kinds) if name in references else "–"
        change = changes[name]
        rows.append([code(name), default, refers, change.effect + (f": {change.reason}" if change.reason else "")])
    return table(["field", "default", "refers to", "a change"], rows)


def _shown(default: object) -> str:
    if isinstance(default, bool):
        return code(str(default).lower())
    return "none" if default is None or default in ("", (), {}) else code(default)


def _carried(kind: type[Resource]) -> str:
    if not kind.HAS_ACTUATOR:
        return "Planned and proved; nothing can make it yet, so nothing carries an owner id."
    carrier = CARRIERS[kind.KIND]
    where = f"in {code(carrier.field)}" if carrier.field else "none carried"
    return f"Owner id: {where} (writable by {carrier.writers}; {carrier.source})."


def _computed(kind: type[Resource]) -> str:
    if kind.KIND not in ACTUATORS:
        return ""
    actuator = ACTUATORS[kind.KIND]
    secret = dict.fromkeys(actuator.SECRET, " (secret)")
    outputs = "; ".join(f"{code(name)}{secret.get(name, '')}: {text}" for name, text in actuator.OUTPUTS.items())
    return f"Computed: {outputs}." if outputs else ""


def common_outputs(_old: str) -> str:
    """Computed outputs of every kind."""
    return table(["output", "meaning"], ([code(name), text] for name, (_, text) in COMMON.items()))


def exit_codes(old: str) -> str:
    """Exit codes of `interlock`."""
    rows = ([str(int(item)), item.name.lower().replace("_", " ")] for item in Exit)
    return explained(["code", "name", "meaning, and what to do"], rows, old)


def commands(_old: str) -> str:
    """The commands of `interlock`, with the first sentence of their help."""
    rows = ([code(f"interlock {name}"), text] for name, text in COMMANDS.items() if name not in PASSED_ON)
    return table(["command", "what it does"], rows)


def rooms(_old: str) -> str:
    """The packages, with the first sentence of each."""
    rows = ([code(room.__name__.replace(".", "/") + "/"), _first_sentence(room.__doc__)] for room in ROOMS)
    return table(["package", "what is in it"], rows)


def _first_sentence(doc: str | None) -> str:
    text = " ".join((doc or "").split("\n\n")[0].split())
    return text.split(". ")[0].removesuffix(".")


#: Name in `<!-- generated: NAME -->` -> what belongs there.
CONTENT: dict[str, Callable[[str], str]] = {
    "acme-tree": acme_tree,
    "hall-tree": hall_tree,
    "tenant-keys": tenant_keys,
    "site-keys": site_keys,
    "evidence-keys": evidence_keys,
    "switch-evidence-keys": switch_evidence_keys,
    "fabric-evidence-keys": fabric_evidence_keys,
    "controller-evidence-keys": controller_evidence_keys,
    "switches-keys": switches_keys,
    "fabrics-keys": fabrics_keys,
    "vipu-keys": vipu_keys,
    "vipu-words": vipu_words,
    "evidence-steps": evidence_steps,
    "existing-keys": existing_keys,
    "sharing-guards": sharing_guards,
    "assumption-guards": assumption_guards,
    "bucket-capabilities": bucket_capabilities,
    "error-codes": error_codes,
    "rules": rules,
    "kinds": kinds,
    "replaced-kinds": replaced_kinds,
    "common-outputs": common_outputs,
    "exit-codes": exit_codes,
    "commands": commands,
    "rooms": rooms,
    "gpu-node-types": gpu_catalogue.node_types,
    "gpu-node-ports": gpu_catalogue.node_ports,
    "gpu-refusals": gpu_catalogue.refusals,
    "gpu-nvlink": gpu_catalogue.nvlink_menus,
    "gpu-acceptance": gpu_catalogue.acceptance,
    "gpu-acceptance-sources": gpu_catalogue.acceptance_sources,
    "acceptance-runs": acceptance_runs,
    "gpu-halls": gpu_catalogue.halls,
    "gpu-fabrics": gpu_catalogue.fabrics,
    "gpu-sources": gpu_catalogue.sources,
    "gpu-software": gpu_software.software,
    "vipu-conformance": vipu_simulator.conformance,
    "vipu-flags": vipu_simulator.unverified_flags,
}
