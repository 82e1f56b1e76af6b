"""The state machine counts all that is on the cloud, so no other folder's world stands while it runs."""

from __future__ import annotations

from tests.support.cloud.stage import alone, empty_cloud, only_whole_worlds, stage

__all__ = ["alone", "empty_cloud", "only_whole_worlds", "stage"]
