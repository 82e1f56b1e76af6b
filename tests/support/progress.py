"""What a long run of tests says on its way: each failure at once, and at the end which files took longest."""

from __future__ import annotations

from collections import Counter

import pytest

#: Files in the closing table.
SLOWEST = 20


class Progress:
    """Of the process that a person looks at; the others send it their reports."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        #: File -> seconds in its tests and fixtures, added up; processes run side by side.
        self.seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Name a failure as soon as it is known: the whole of it comes at the end, which may be long after."""
        self.seconds[report.nodeid.partition("::")[0]] += report.duration  # type: ignore[assignment] # annotated as int
        if report.failed:
            self._say(f"{'FAILED' if report.when == 'call' else 'ERROR'} {report.nodeid}")
            self._say(f"  {_last_line(report)}")

    def pytest_terminal_summary(self) -> None:
        """The slowest files, where the run was long enough for it to matter."""
        if sum(self.seconds.values()) < 60:
            return
        self._say(f"slowest files, seconds (of {sum(self.seconds.values()):.0f} in all processes):")
        for file, seconds in self.seconds.most_common(SLOWEST):
            self._say(f"{seconds:8.0f}  {file}")

    def _say(self, line: str) -> None:
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None:
            terminal.ensure_newline()
            terminal.write_line(line)


def _last_line(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    return str(crash.message).partition("\n")[0][:200] if crash is not None else str(report.longrepr)[:200]
