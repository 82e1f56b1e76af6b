"""A stack as Pulumi's engine has it: what its program declares, its state, and single operations of the provider."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pulumi.runtime.proto import provider_pb2

from interlock.provider.codec import UNKNOWN, decode, encode
from interlock.resources import Admission, Admitted, Resource
from interlock.vocabulary.owners import OwnerId
from tests.support.engine.process import Process, Recorded


@dataclass
class Stack:
    """What a program declares, and the state, which may hold what the program no longer declares."""

    process: Process
    stack: str
    owner: str
    resources: dict[str, Resource]
    site_owner: str
    folder: Path
    existing: Mapping[str, str] = field(default_factory=dict)
    stated: tuple[Admitted, ...] = ()
    virtual_functions: Mapping[str, int] = field(default_factory=dict)
    state: dict[str, Recorded] = field(default_factory=dict)
    #: All that it declares, did declare, or ever may, each after what it refers to.
    ever: dict[str, Resource] = field(default_factory=dict)
    #: Names of which the last operation left an id and an error: the next update mends them.
    unfinished: set[str] = field(default_factory=set)

    @property
    def kinds(self) -> dict[str, str]:
        """Plan name -> kind, also of what is no longer declared, in the order of the snapshot."""
        return {name: item.KIND for name, item in (self.ever | self.resources).items()}

    def declare(self, resources: Mapping[str, Resource]) -> None:
        """From now on the program is this one. What it no longer declares goes before everything else."""
        self.resources = dict(resources)
        self.ever = self.resources | {name: item for name, item in self.ever.items() if name not in resources}

    def held(self) -> list[str]:
        """What the state holds, each after what it refers to."""
        return [name for name in self.kinds if name in self.state]

    def admission(self) -> Admission:
        """The proof, as the program hands it to the provider."""
        return Admission(
            stack=self.stack,
            cloud="sandbox",
            owner=OwnerId(self.owner),
            site_owner=OwnerId(self.site_owner),
            existing=dict(self.existing),
            stated=self.stated,
            plan_hash="plan",
            proof_hash="proof",
            site_folder=str(self.folder),
            virtual_functions=dict(self.virtual_functions),
            resources=tuple(
                Admitted(name=name, kind=item.KIND, spec=item.canonical()) for name, item in self.resources.items()
            ),
        )

    def admit(self, *, preview: bool = True) -> list[str]:
        """Faults that the provider finds in the proof, or on the cloud."""
        return self.process.admit(self.admission(), preview=preview)

    def urn(self, name: str) -> str:
        """As the engine names it."""
        kind = (self.resources.get(name) or self.ever[name]).KIND
        return f"urn:pulumi:{self.stack}::clusters::interlock:index:{kind}::{name}"

    def inputs(self, name: str, unknown: Iterable[str] = ()) -> dict[str, Any]:
        """As the program hands them over: ids of references to the own plan only.

        `unknown`: names that have no id, or will have another. A whole input is unknown as soon as one id in it is.
        """
        item, ids, gone = self.resources[name], dict[str, Any](), set(unknown)
        for where, reference in item.references():
            if reference.startswith(("site:", "cloud:")) or reference == name:
                continue
            key = f"id_of_{where}"
            if reference in gone or ids.get(key) is UNKNOWN:
                ids[key] = UNKNOWN
            elif isinstance(getattr(item, where), tuple):
                ids.setdefault(key, []).append(self.state[reference].id)
            else:
                ids[key] = self.state[reference].id
        return item.canonical() | {"owner": self.owner} | ids

    def check(self, name: str, inputs: Mapping[str, Any] | None = None, *, anew: bool = False) -> list[tuple[str, str]]:
        """Faults of what the program declares now. `anew`: as the engine asks of what is to be recreated."""
        olds = self.state[name].inputs if name in self.state and not anew else {}
        request = provider_pb2.CheckRequest(
            urn=self.urn(name), olds=encode(olds), news=encode(inputs or self.inputs(name))
        )
        return [(fault.property, fault.reason) for fault in self.process.call("Check", request).failures]

    def create(self, name: str, *, inputs: Mapping[str, Any] | None = None, preview: bool = False) -> Recorded:
        """Makes it (whether or not the state holds it already) and records it."""
        values = dict(inputs or self.inputs(name))
        request = provider_pb2.CreateRequest(urn=self.urn(name), properties=encode(values), preview=preview)
        answer = self.process.call("Create", request)
        found = Recorded(answer.id, values, decode(answer.properties))
        if not preview:
            self.state[name] = found
        return found

    def create_all(self) -> None:
        """Everything that is declared, in order."""
        for name in self.resources:
            assert self.check(name) == []
            self.create(name)

    def read(self, name: str, *, record: bool = True, **changed: Any) -> Recorded | None:
        """What `refresh` finds; `changed` alters the recorded outputs beforehand."""
        old = self.state[name]
        request = provider_pb2.ReadRequest(
            urn=self.urn(name), id=old.id, inputs=encode(old.inputs), properties=encode(old.outputs | changed)
        )
        answer = self.process.call("Read", request)
        if not answer.id:
            return None
        found = Recorded(answer.id, decode(answer.inputs), decode(answer.properties))
        if record:
            self.state[name] = found
        return found

    def diff(self, name: str, inputs: Mapping[str, Any] | None = None) -> dict[str, bool]:
        """Property -> must be replaced for it; empty if nothing is to do."""
        old = self.state[name]
        request = provider_pb2.DiffRequest(
            urn=self.urn(name),
            id=old.id,
            olds=encode(old.outputs),
            news=encode(inputs or self.inputs(name)),
            old_inputs=encode(old.inputs),
        )
        answer = self.process.call("Diff", request)
        assert (answer.changes == provider_pb2.DiffResponse.DIFF_SOME) == bool(answer.diffs)
        assert answer.deleteBeforeReplace
        return {field: field in answer.replaces for field in answer.diffs}

    def update(self, name: str, *, inputs: Mapping[str, Any] | None = None, **changed: Any) -> Recorded:
        """Changes it in place and records it; `changed` alters the recorded outputs beforehand."""
        old, news = self.state[name], dict(inputs or self.inputs(name))
        request = provider_pb2.UpdateRequest(
            urn=self.urn(name), id=old.id, olds=encode(old.outputs | changed), news=encode(news)
        )
        answer = self.process.call("Update", request)
        self.state[name] = Recorded(old.id, news, decode(answer.properties))
        return self.state[name]

    def delete(self, name: str, **changed: Any) -> None:
        """Away with it; `changed` alters the recorded outputs beforehand."""
        old = self.state[name]
        request = provider_pb2.DeleteRequest(urn=self.urn(name), id=old.id, properties=encode(old.outputs | changed))
        self.process.call("Delete", request)
        del self.state[name]

    def delete_all(self, names: Iterable[str] | None = None) -> None:
        """These, or everything that the state holds, the last first."""
        for name in list(names or reversed(self.state)):
            self.delete(name)
