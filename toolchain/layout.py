"""Where things lie. The one place that knows the names below `.interlock/`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PLUGIN_VERSION = "0.1.0"
"""Version of the provider plugin; equal to `interlock.__version__` (a test holds them together)."""


@dataclass(frozen=True)
class CheckoutLayout:
    """Absolute paths of one checkout; nothing is created by asking for a path."""

    root: Path

    @classmethod
    def here(cls) -> CheckoutLayout:
        """The checkout that this file belongs to."""
        return cls(Path(__file__).resolve().parent.parent)

    @property
    def made(self) -> Path:
        """The git-ignored folder that holds all that a run makes."""
        return self.root / ".interlock"

    @property
    def lock(self) -> Path:
        """Held with flock while something is made."""
        return self.made / "lock"

    @property
    def uv(self) -> Path:
        """A small environment that holds uv and nothing else."""
        return self.made / "uv"

    @property
    def venv(self) -> Path:
        """The project's environment, from requirements.lock."""
        return self.made / "venv"

    @property
    def python(self) -> Path:
        """The interpreter of the project's environment."""
        return self.venv / "bin" / "python"

    @property
    def go_module(self) -> Path:
        """The Go module that pins the Pulumi command line and all it is built from."""
        return self.root / "toolchain" / "pulumi"

    @property
    def built_pulumi(self) -> Path:
        """Holds `bin/pulumi` and `bin/pulumi-language-python` where no official Pulumi was found."""
        return self.made / "pulumi"

    @property
    def versity_module(self) -> Path:
        """The Go module that pins the Versity gateway, the S3 server of tests."""
        return self.root / "toolchain" / "versity"

    @property
    def built_versity(self) -> Path:
        """Holds `bin/versitygw` once a test has needed it."""
        return self.made / "versity"

    @property
    def versity_lock(self) -> Path:
        """Held with flock while the gateway is built: tests build it, while a run of `./run` may hold `lock`."""
        return self.made / "versity.lock"

    @property
    def pulumi_home(self) -> Path:
        """Default of PULUMI_HOME."""
        return self.made / "pulumi-home"

    @property
    def state(self) -> Path:
        """The default, local state backend."""
        return self.made / "state"

    @property
    def sandbox_clouds(self) -> Path:
        """clouds.yaml of the embedded cloud."""
        return self.made / "sandbox" / "clouds.yaml"
