"""A pytest plugin that feeds failures to an agent: `pytest -p pytest_tocsin --tocsin-to dev` with this file on the path."""

import os

import pytest

from tocsin import Event, TocsinError
from tocsin.edges.server.client import Client
from tocsin.edges.server.directory import present
from tocsin.edges.server.runtime import runtime_directory


def pytest_addoption(parser: pytest.Parser) -> None:
    """One option: whom to tell."""
    parser.addoption("--tocsin-to", metavar="RECIPIENT", help="feed failures to this recipient (see `tocsin recipients`)")


def pytest_configure(config: pytest.Config) -> None:
    """Nothing is done without the option."""
    if recipient := config.getoption("--tocsin-to"):
        config.pluginmanager.register(Feeder(recipient), "tocsin-feeder")


class Feeder:
    """Turns reports into events: one for each test that failed, with the test's name as its identity."""

    def __init__(self, recipient: str) -> None:
        self._recipient = recipient
        self._events: list[Event] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A failure in the test or around it."""
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            said = crash.message.splitlines()[0] if crash and crash.message else f"{report.when} failed"
            self._events.append(
                Event(
                    text=f"FAILED {report.nodeid} - {said}",
                    key=f"pytest:{report.nodeid}:{report.when}",
                    detail=report.longreprtext,
                    source="process_alert",
                    scope="pytest",
                    severity="error",
                    category="test",
                )
            )

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Feed them all at the end; that nobody is there to be told fails no test run."""
        if not self._events:
            return
        try:
            address = present(runtime_directory(), self._recipient, os.environ)
            with Client(address.path, name=address.name) as client:
                answer = client.feed(self._events)
            terminalreporter.write_line(f"tocsin: {answer.count} fed to {self._recipient}")
        except TocsinError as error:
            terminalreporter.write_line(f"tocsin: {error}", yellow=True)
