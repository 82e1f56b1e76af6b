"""A stand-in for Pulumi's Python language host: its LanguageRuntime contract over the SDK's own gRPC stubs.

Used only beside a Pulumi that was built here; an official install brings its own host. It runs programs
and policy packs and answers what the engine asks on the way. It installs nothing and generates no code:
those calls fail and say so. Started as `pulumi-language-python [flags] [engine address]`; prints its port.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import empty_pb2
from google.protobuf.json_format import MessageToDict

from interlock.deferred_imports import defer

# Of the SDK the host needs these stubs alone, and every run waits for it to start, three times.
defer("pulumi", "pulumi.runtime", "pulumi.runtime.proto")

from pulumi.runtime.proto import language_pb2 as lang  # noqa: E402
from pulumi.runtime.proto import language_pb2_grpc, plugin_pb2  # noqa: E402

VERSION = "3.259.0"
ALREADY_EXPLAINED = 32
"""Exit code of run_program.py for a failure that the user was told about: the engine adds nothing."""

SECONDS_TO_LEAVE = 5.0
"""How long a program may take to end after it was told to, before it is killed."""

SECONDS_BETWEEN_LOOKS = 1.0
"""How often the host looks whether the engine is still its parent: a killed engine sends no signal."""

IGNORING_SIGINT = ("/bin/sh", "-c", 'trap "" INT; exec "$@"', "sh")
"""Starts a command. The engine ends its host's whole process group with SIGINT, and Python prints a traceback if it
comes before the first line of a program could say what is to be done then: imports take half a second."""

MESSAGE_LIMIT = 400 * 1024 * 1024
"""In bytes; what the official host allows."""

Context = grpc.aio.ServicerContext[Any, Any]


class NoSuchEnvironment(Exception):
    """The `virtualenv` option names a folder without a Python."""


def python_for(program: lang.ProgramInfo) -> str:
    """The interpreter of the `virtualenv` option, relative to the project's root; by default our own."""
    options = MessageToDict(program.options) if program.HasField("options") else {}
    name = options.get("virtualenv")
    if not name:
        return sys.executable
    python = Path(program.root_directory, str(name), "bin", "python")
    if not python.exists():
        raise NoSuchEnvironment(
            f"the option virtualenv names {name!r}, but there is no {python}. Make it: ./run prepare"
        )
    return str(python)


class Children:
    """The processes that run for us, so that none outlives us."""

    def __init__(self) -> None:
        self._running: set[Process] = set()

    async def start(self, command: list[str], *, stdin: int = DEVNULL, **options: Any) -> Process:
        """Start a process, which `end` ends and SIGINT does not, and remember it until then."""
        process = await asyncio.create_subprocess_exec(*IGNORING_SIGINT, *command, stdin=stdin, **options)
        self._running.add(process)
        return process

    async def end(self, process: Process) -> None:
        """Stop a process, if it still runs, and kill it if it does not leave in time.

        SIGTERM: it was started with SIGINT ignored.
        """
        self._running.discard(process)
        if process.returncode is not None:
            return
        _signal(process, signal.SIGTERM)
        try:
            await asyncio.wait_for(process.wait(), SECONDS_TO_LEAVE)
        except TimeoutError:
            _signal(process, signal.SIGKILL)
            await process.wait()

    async def end_all(self) -> None:
        """End every process, side by side."""
        await asyncio.gather(*(self.end(process) for process in list(self._running)))


def _signal(process: Process, number: signal.Signals) -> None:
    try:
        process.send_signal(number)
    except ProcessLookupError:
        return  # it ended by itself in the meantime


class Runners:
    """Processes of run_program.py, each of which takes one program. One may start before the engine asks for it."""

    def __init__(self, children: Children) -> None:
        self._children = children
        self._ahead: dict[str, asyncio.Task[Process]] = {}

    def start_ahead(self, python: str) -> None:
        """Let one start and import what programs import, while the engine waits for something else."""
        if python not in self._ahead:
            self._ahead[python] = asyncio.create_task(self._start(python, "--preload"))

    async def run(self, python: str, program: dict[str, Any]) -> int:
        """Run a program to its end; returns the exit code. It is told on stdin, which nobody else can read."""
        ahead = self._ahead.pop(python, None)
        process = await (ahead or self._start(python))
        assert process.stdin is not None, "started with a pipe"
        try:
            process.stdin.write(json.dumps(program).encode())
            process.stdin.close()
            return await process.wait()
        finally:
            await self._children.end(process)

    async def _start(self, python: str, *options: str) -> Process:
        runner = str(Path(__file__).with_name("run_program.py"))
        return await self._children.start([python, "-P", "-u", runner, *options], stdin=PIPE)


class LanguageHost(language_pb2_grpc.LanguageRuntimeServicer):
    """Answers the engine. Method names, requests and responses are those of pulumirpc.LanguageRuntime."""

    def __init__(self, engine: str, children: Children) -> None:
        self._engine = engine
        self._children = children
        self._runners = Runners(children)

    async def Handshake(
        self, request: lang.LanguageHandshakeRequest, context: Context
    ) -> lang.LanguageHandshakeResponse:
        """Take over the engine's address."""
        self._engine = request.engine_address or self._engine
        return lang.LanguageHandshakeResponse()

    async def GetPluginInfo(self, request: empty_pb2.Empty, context: Context) -> plugin_pb2.PluginInfo:
        """The version of the SDK that this host was written against."""
        return plugin_pb2.PluginInfo(version=VERSION)

    async def About(self, request: lang.AboutRequest, context: Context) -> lang.AboutResponse:
        """For `pulumi about`: says first that this is a stand-in."""
        executable = f"{python_for(request.info)} (through interlock's stand-in for Pulumi's Python language host)"
        return lang.AboutResponse(executable=executable, version=sys.version.split()[0])

    async def GetRequiredPackages(
        self, request: lang.GetRequiredPackagesRequest, context: Context
    ) -> lang.GetRequiredPackagesResponse:
        """None: the plugin is installed by `./run`, and nothing is ever downloaded."""
        return lang.GetRequiredPackagesResponse()

    async def GetRequiredPlugins(
        self, request: lang.GetRequiredPluginsRequest, context: Context
    ) -> lang.GetRequiredPluginsResponse:
        """None, as above, in the older form of the question."""
        return lang.GetRequiredPluginsResponse()

    async def GetProgramDependencies(
        self, request: lang.GetProgramDependenciesRequest, context: Context
    ) -> lang.GetProgramDependenciesResponse:
        """None are listed; requirements.lock is the list."""
        return lang.GetProgramDependenciesResponse()

    async def RuntimeOptionsPrompts(
        self, request: lang.RuntimeOptionsRequest, context: Context
    ) -> lang.RuntimeOptionsResponse:
        """There is nothing to choose."""
        return lang.RuntimeOptionsResponse()

    async def InstallDependencies(
        self, request: lang.InstallDependenciesRequest, context: Context
    ) -> AsyncIterator[lang.InstallDependenciesResponse]:
        """Refused: `pulumi install` would bypass requirements.lock."""
        yield lang.InstallDependenciesResponse(stderr=b"Dependencies come from requirements.lock: ./run prepare\n")
        await context.abort(grpc.StatusCode.UNIMPLEMENTED, "this language host installs nothing; use ./run prepare")

    async def Cancel(self, request: empty_pb2.Empty, context: Context) -> empty_pb2.Empty:
        """Stop what runs; its Run then returns."""
        await self._children.end_all()
        return empty_pb2.Empty()

    async def Run(self, request: lang.RunRequest, context: Context) -> lang.RunResponse:
        """Run a program to its end. What it prints reaches the engine through our own stdout and stderr."""
        try:
            python = python_for(request.info)
        except NoSuchEnvironment as problem:
            return lang.RunResponse(error=str(problem))
        return _run_response(await self._runners.run(python, self._program(request)))

    async def RunPlugin(
        self, request: lang.RunPluginRequest, context: Context
    ) -> AsyncIterator[lang.RunPluginResponse]:
        """Run a policy pack, or another plugin in Python, and pass its output on, for it speaks by that."""
        try:
            command = _plugin_command(request)
        except NoSuchEnvironment as problem:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(problem))
        environment = dict(pair.split("=", 1) for pair in request.env) if request.env else None
        process = await self._children.start(command, cwd=request.pwd, env=environment, stdout=PIPE, stderr=PIPE)
        if request.kind == "analyzer":
            # The engine runs the program next, when the pack serves; most projects have both in one environment.
            self._runners.start_ahead(command[0])
        try:
            async for response in _output_of(process):
                yield response
            yield lang.RunPluginResponse(exitcode=await process.wait())
        finally:
            await self._children.end(process)

    def _program(self, request: lang.RunRequest) -> dict[str, Any]:
        """What run_program.py is told: the fields of its `Program`."""
        return {
            "program": str(Path(request.info.program_directory, request.info.entry_point or ".")),
            "arguments": list(request.args),
            "folder": request.pwd or request.info.program_directory,
            "root": request.info.root_directory,
            "project": request.project,
            "stack": request.stack,
            "organization": request.organization,
            "dry_run": request.dryRun,
            "parallel": request.parallel,
            "monitor": request.monitor_address,
            "engine": self._engine,
            "config": dict(request.config),
            "secret_keys": list(request.configSecretKeys),
        }


def _run_response(exit_code: int) -> lang.RunResponse:
    if exit_code == 0:
        return lang.RunResponse()
    if exit_code == ALREADY_EXPLAINED:
        return lang.RunResponse(bail=True)
    return lang.RunResponse(error=f"the program ended with exit code {exit_code}")


def _plugin_command(request: lang.RunPluginRequest) -> list[str]:
    python = python_for(request.info)
    if request.kind == "analyzer":
        return [python, "-u", "-m", "pulumi.policy", *request.args, request.info.program_directory]
    return [python, "-u", "-m", "pulumi.run.plugin", request.name, *request.args]


async def _output_of(process: Process) -> AsyncIterator[lang.RunPluginResponse]:
    """Both streams of a process, as they come, until both are closed."""
    queue: asyncio.Queue[lang.RunPluginResponse | None] = asyncio.Queue()

    async def pump(stream: asyncio.StreamReader, name: str) -> None:
        while chunk := await stream.read(65536):
            await queue.put(
                lang.RunPluginResponse(stdout=chunk) if name == "stdout" else lang.RunPluginResponse(stderr=chunk)
            )
        await queue.put(None)

    assert process.stdout is not None, "started with a pipe"
    assert process.stderr is not None, "started with a pipe"
    pumps = [
        asyncio.create_task(pump(process.stdout, "stdout")),
        asyncio.create_task(pump(process.stderr, "stderr")),
    ]
    try:
        open_streams = len(pumps)
        while open_streams:
            response = await queue.get()
            if response is None:
                open_streams -= 1
            else:
                yield response
    finally:
        for task in pumps:
            task.cancel()


async def _engine_is_gone(parent: int) -> None:
    while os.getppid() == parent:
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)


async def _told_to_stop() -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await stop.wait()


async def serve(engine: str) -> None:
    """Serve until a signal comes or the engine is gone; leaves no process behind, and does not return."""
    parent = os.getppid()
    children = Children()
    server = grpc.aio.server(
        options=[
            ("grpc.max_receive_message_length", MESSAGE_LIMIT),
            ("grpc.max_send_message_length", MESSAGE_LIMIT),
        ]
    )
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(LanguageHost(engine, children), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    ends = [asyncio.create_task(_told_to_stop()), asyncio.create_task(_engine_is_gone(parent))]
    print(port, flush=True)
    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    await children.end_all()
    await server.stop(grace=1)
    # asyncio would now cancel what gRPC still waits for, and gRPC prints a traceback of that.
    os._exit(0)


def main(arguments: list[str]) -> None:
    """Flags are those of the official host and ignored; the engine's address, if given, comes last."""
    address = arguments[-1] if arguments and not arguments[-1].startswith("-") else ""
    asyncio.run(serve(address))


if __name__ == "__main__":
    main(sys.argv[1:])
