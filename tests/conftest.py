"""What all tests share: the embedded cloud of the tests, and how to multiply random ones."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

import hypothesis
import hypothesis.core
import pytest
from xdist.remote import Producer
from xdist.workermanage import WorkerController

from interlock.garbage import collect_seldom
from sandbox.services.owner import owned_by
from tests.support.compiling import compile_stale, modules
from tests.support.groups import FAST_SHARE, MUTANTS, ONLY_LONG, is_slow, is_slow_path
from tests.support.progress import Progress
from tests.support.sampling import KEY, WHOLE, Part, Sampling, Size, fresh_seed, sampling_of
from tests.support.scheduling import PROCESSES, GroupScheduling

ROOT = Path(__file__).resolve().parents[1]
#: Whose cloud has switches that forward frames: that of one group of tests, which one process runs.
FRAMES = "frames"
#: That of the tests on the rack of GPU nodes.
HALL = "hall"
#: That of the tests on the rack whose servers take GPU nodes whole.
PASSING = "passing"
#: In the folder of a cloud: which run of tests started it.
RUN = "test-run"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("sampling", "how much of random tests is run")
    group.addoption("--fast", action="store_true", help="small samples, and no test that needs a cloud or Pulumi")
    group.addoption("--long", action="store_true", help="no samples: all random cases, all points, all faults")
    group.addoption("--part", type=Part.parse, default=WHOLE, metavar="2/8", help="with --long: the second eighth")
    group.addoption("--seed", type=int, default=None, help="take the sample again that an earlier run printed")


def pytest_configure(config: pytest.Config) -> None:
    collect_seldom()
    # A worker reads the same arguments as the process that started it, and is handed the seed that was drawn there.
    config.option.seed = getattr(config, "workerinput", {}).get("seed", config.option.seed)
    if config.option.seed is None:
        config.option.seed = fresh_seed()
    size = Size.LONG if config.option.long else Size.FAST if config.option.fast else Size.USUAL
    sampling = Sampling(config.option.seed, size, config.option.part)
    config.stash[KEY] = sampling
    hypothesis.settings.register_profile(
        "sample", deadline=None, print_blob=True, max_examples=max(1, sampling.count("hypothesis examples"))
    )
    hypothesis.settings.load_profile("sample")
    # The parts of a long run are about different examples.
    seed = sampling.random(f"hypothesis {sampling.part}").getrandbits(64)
    hypothesis.core.global_force_seed = seed  # type: ignore[assignment] # annotated as None
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Progress(config))
        # Of single files each process compiles its own.
        every = config.args_source is pytest.Config.ArgsSource.TESTPATHS
        if every and config.getoption("numprocesses", None) and not sys.dont_write_bytecode:
            compile_stale(config, [path for path in modules(ROOT) if not _is_left_out(config, path)])
    # A shell's background jobs are started with SIGINT ignored, and what the tests start would ignore Ctrl-C, too.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A fast run does not even read what it leaves out whole."""
    return True if _is_left_out(config, collection_path) else None


def _is_left_out(config: pytest.Config, path: Path) -> bool:
    here = bool(config.option.fast) and path.is_relative_to(ROOT)
    return here and is_slow_path(path.relative_to(ROOT).as_posix())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A part of a long run takes its share of the faults; what is made of random cases divides them itself.

    A fast run leaves out what needs a cloud or Pulumi, and most mutants; a long one alone takes `ONLY_LONG`.
    """
    sampling = sampling_of(config)
    faults = [item for item in items if item.path.parent.name == "faults"]
    others = {item for place, item in enumerate(faults) if not sampling.part.takes(place)}
    if not sampling.long:
        others |= {item for item in items if item.nodeid.startswith(ONLY_LONG)}
    if sampling.size is Size.FAST:
        others |= {item for item in items if is_slow(item.nodeid, getattr(item, "fixturenames", ()))}
        mutants = [item for item in items if item.nodeid.startswith(MUTANTS)]
        others |= {*mutants} - {*sampling.some("mutants", mutants, -(-len(mutants) // FAST_SHARE))}
    if others:
        config.hook.pytest_deselected(items=[item for item in items if item in others])
        items[:] = [item for item in items if item not in others]


def pytest_report_header(config: pytest.Config) -> str:
    return f"random tests: {sampling_of(config)}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failure says how the same sample is taken again."""
    report = yield
    if report.failed:
        report.sections.append(("sample", str(sampling_of(item.config))))
    return report


@pytest.fixture(autouse=True)
def signals_are_heard() -> Iterator[None]:
    """What a test starts inherits which signals are blocked, and so does what later tests start and want to end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    yield
    left = signal.pthread_sigmask(signal.SIG_SETMASK, before) - before
    assert not left, f"the test leaves {', '.join(sorted(signal.Signals(item).name for item in left))} blocked"


@pytest.fixture(scope="session")
def sampling(request: pytest.FixtureRequest) -> Sampling:
    """What this run takes of random tests."""
    return sampling_of(request.config)


@pytest.fixture(scope="session")
def long(sampling: Sampling) -> bool:
    """True if the run was asked for everything."""
    return sampling.long


@dataclass(frozen=True)
class Sandbox:
    """A running instance of the embedded cloud."""

    dir: Path
    cloud: str = "sandbox"

    @property
    def clouds_yaml(self) -> Path:
        return self.dir / "clouds.yaml"

    def supervise(self, command: str, *options: str) -> None:
        """Run the supervisor; its words are shown if it fails."""
        program = str(ROOT / "sandbox" / "supervisor.py")
        done = subprocess.run(
            [sys.executable, program, command, "--dir", str(self.dir), *options],
            check=False,
            text=True,
            capture_output=True,
            # A session that is killed stops no cloud; the cloud sees that itself.
            env={**os.environ, **owned_by(os.getpid())},
        )
        assert done.returncode == 0, f"sandbox {command} failed:\n{done.stderr}"
        if command in ("reset", "up"):
            (self.dir / RUN).write_text(os.environ.get("PYTEST_XDIST_TESTRUNUID", ""))

    def is_of(self, run: str) -> bool:
        """True if this run of tests started it last."""
        file = self.dir / RUN
        return file.is_file() and file.read_text() == run


def cloud_folder(worker: str | None) -> Path:
    """Where the embedded cloud of a run's process lies; INTERLOCK_TEST_SANDBOX names another folder than the usual."""
    base = Path(os.environ.get("INTERLOCK_TEST_SANDBOX") or ROOT / ".interlock" / "test-sandbox")
    return base.with_name(f"{base.name}-{worker}") if worker else base


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """An embedded cloud of this process's own, fresh, on ports of its own; all are copies of one golden image."""
    instance = Sandbox(cloud_folder(os.environ.get("PYTEST_XDIST_WORKER")))
    instance.supervise("reset")
    before = os.environ.get("OS_CLIENT_CONFIG_FILE")
    os.environ["OS_CLIENT_CONFIG_FILE"] = str(instance.clouds_yaml)
    yield instance
    instance.supervise("down")
    if before is not None:
        os.environ["OS_CLIENT_CONFIG_FILE"] = before


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: WorkerController) -> None:
    """All processes take one sample: its cases are names of tests, too, and these must be the same everywhere."""
    node.workerinput["seed"] = node.config.option.seed


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """As many processes as are worth it: see `tests.support.scheduling`. A fast run only computes."""
    return (1 if config.option.fast else PROCESSES) * (os.cpu_count() or 1)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> GroupScheduling:
    return GroupScheduling(config, log)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Stops the clouds of processes that were ended before they could; those of another run that goes on stay."""
    if session.config.getoption("numprocesses", None) and "PYTEST_XDIST_WORKER" not in os.environ:
        workers = [f"gw{number}" for number in range(session.config.option.numprocesses)]
        distributed = session.config.pluginmanager.get_plugin("dsession")
        run = distributed.nodemanager.testrunuid if distributed is not None else ""
        for name in (*workers, FRAMES, HALL, PASSING):
            left = Sandbox(cloud_folder(name))
            if left.is_of(run):
                left.supervise("down")
