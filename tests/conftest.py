"""Shared test set-up: hypothesis profile, where the public traces are, and the guard against silent skips."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

settings.register_profile("geosched", deadline=None, derandomize=True)
settings.load_profile("geosched")


def traces_folder() -> Path:
    """Where the public traces lie: $GEOSCHED_TRACES, else shared/traces beside the repository."""
    return Path(os.environ.get("GEOSCHED_TRACES", ROOT.parent / "shared" / "traces"))


@pytest.fixture(scope="session")
def traces() -> Path:
    """The folder of public traces; tests that ask for it (marker `traces`) skip when it is missing."""
    folder = traces_folder()
    if not folder.is_dir():
        pytest.skip(f"public traces not found at {folder}: set GEOSCHED_TRACES to their folder")
    return folder


# A group of tests that should run on this machine must run: a skipped or empty group fails the whole run.
GROUPS: dict[str, Callable[[], bool]] = {
    "bounds": lambda: True,
    "traces": lambda: traces_folder().is_dir(),
    "rocq": lambda: shutil.which("coqc") is not None,
}


class SkipGuard:
    """Count what ran and what was skipped per group, and fail a complete run in which a group was missed."""

    def __init__(self) -> None:
        self.ran: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        groups = [g for g in GROUPS if g in report.keywords]
        if "traces" in groups:
            groups = ["traces"]
        for group in groups:
            if report.skipped:
                self.skipped[group] += 1
            elif report.when == "call":
                self.ran[group] += 1

    def missed(self) -> list[str]:
        """One line for each group that should have run here and did not, or not wholly."""
        lines = []
        for group, expected in GROUPS.items():
            if expected() and (self.skipped[group] or not self.ran[group]):
                lines.append(
                    f"the {group} tests should run here: {self.ran[group]} ran, {self.skipped[group]} were skipped"
                )
        return lines


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(SkipGuard(), "skip-guard")


def _is_complete_run(config: pytest.Config) -> bool:
    last_failed = getattr(config.option, "lf", False)  # unknown when the cache plugin is off
    chosen = config.option.markexpr or config.option.keyword or last_failed or config.option.collectonly
    return not chosen and config.args == config.getini("testpaths") and not hasattr(config, "workerinput")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    guard = session.config.pluginmanager.get_plugin("skip-guard")
    if isinstance(guard, SkipGuard) and _is_complete_run(session.config) and exitstatus == 0 and guard.missed():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    guard = config.pluginmanager.get_plugin("skip-guard")
    if isinstance(guard, SkipGuard) and _is_complete_run(config):
        for line in guard.missed():
            terminalreporter.write_line(f"FAILED guard: {line}", red=True)
