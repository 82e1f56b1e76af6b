"""One cloud with the rack `passing` for all tests of this folder: dgx-1 and dgx-2, whose devices servers take whole.

Each has 8 GPUs, 4 NVSwitches and 8 adapters, whose ports are on a simulated subnet with a real subnet manager.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from interlock.provider.clouds import Cloud
from tests.conftest import PASSING, Sandbox, cloud_folder


@pytest.fixture(scope="package")
def rack() -> Iterator[Sandbox]:
    """The cloud, which is stopped at the end, whatever happened."""
    sandbox, name = Sandbox(cloud_folder(PASSING)), "OS_CLIENT_CONFIG_FILE"
    before = os.environ.get(name)
    sandbox.supervise("reset", "--rack", PASSING)
    os.environ[name] = str(sandbox.clouds_yaml)
    try:
        yield sandbox
    finally:
        sandbox.supervise("down")
        os.environ.pop(name) if before is None else os.environ.update({name: before})


@pytest.fixture(scope="package")
def cloud(rack: Sandbox) -> Cloud:
    """The operator, as the provider asks its services."""
    return Cloud(rack.cloud)
