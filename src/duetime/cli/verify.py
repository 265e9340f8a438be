"""``duetime deployment verify``: tests a deployment end to end with probes, and measures it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

from duetime._english import counted
from duetime.cli.client import client_of
from duetime.cli.exchange import exchange, is_loopback
from duetime.cli.failures import BadUsage, NoResponse
from duetime.cli.output import print_either
from duetime.cli.tables import facts, plain, table
from duetime.cli.terminal import ProgressBar
from duetime.clock import SystemClock
from duetime.verify.measures import Measures
from duetime.verify.pages import check_pages
from duetime.verify.trial import Result
from duetime.verify.verify import Options, Verification, Verify

_BAR = 40
"""The longest bar of the histogram, in characters."""

_CHAOS = (
    "--chaos ends a worker's process in a run. Other runs in that process are repeated after the lease,"
    " which is minutes."
)


def run(arguments: argparse.Namespace) -> int:
    """Verify, and print the results; return 1 if a check failed."""
    if arguments.chaos and not arguments.yes:
        _confirm()
    client = client_of(arguments)
    options = Options(far=arguments.far, chaos=arguments.chaos, notify=arguments.notify)
    with ProgressBar("verify") as bar:
        verify = Verify(client, SystemClock(), options, bar.note if sys.stderr.isatty() else _ignore)
        verification = verify(_further(arguments, client.url, client.prefix, verify.run_id))
    parts = (
        f"{client.url}, correlation id {verification.run_id}",
        _checks(verification.results),
        _measured(verification.measures),
    )
    content = _as_json(client.url, verification)
    return print_either(arguments, content, lambda: "\n\n".join(parts)) or int(not verification.is_ok)


def _confirm() -> None:
    if not sys.stdin.isatty():
        raise BadUsage(f"{_CHAOS} There is no terminal to confirm it; add --yes")
    if input(f"{_CHAOS} Continue? [y/N] ").strip().lower() not in {"y", "yes"}:
        raise BadUsage("not confirmed, nothing was scheduled")


def _ignore(_line: str) -> None:
    """Print nothing: standard error is no terminal."""


def _further(
    arguments: argparse.Namespace, url: str, prefix: str, run_id: str
) -> list[Callable[[], list[Result]]]:
    """Return the checks beside the probes: pages and alarms."""

    def fetch(address: str) -> tuple[int, bytes]:
        try:
            return exchange("GET", address, {"User-Agent": "duetime"}, None, base=address)[:2]
        except NoResponse:
            return 0, b""

    page = arguments.console or url.rstrip("/").removesuffix(prefix)
    checks: list[Callable[[], list[Result]]] = [
        lambda: check_pages(page.rstrip("/") + "/", fetch, is_named=arguments.console is not None)
    ]
    if arguments.notify and (arguments.prefix is not None or not is_loopback(url)):
        from duetime.verify.recipients import alarms_reach_someone  # noqa: PLC0415 - it needs boto3

        checks.append(lambda: [alarms_reach_someone(arguments.prefix or "duetime-", run_id)])
    return checks


def _as_json(url: str, verification: Verification) -> dict[str, Any]:
    return {
        "url": url,
        "correlation_id": verification.run_id,
        "status": "ok" if verification.is_ok else "failed",
        "checks": [result._asdict() for result in verification.results],
        "measures": verification.measures.to_json(),
    }


def _checks(results: Sequence[Result]) -> str:
    rows = [
        [
            result.name,
            result.state,
            result.expected,
            result.actual,
            (result.remedy if result.state != "ok" else "") or "-",
        ]
        for result in results
    ]
    return table(["CHECK", "STATE", "EXPECTED", "ACTUAL", "REMEDY"], rows)


def _measured(measured: Measures) -> str:
    clocks = {"API's clock": measured.api_clock_ahead, "workers' clock": measured.worker_clock_ahead}
    phases = {
        True: "in phase with the send",
        False: "at whole seconds, so workers wait longer",
        None: "not measured",
    }
    values = {
        **{name: _ahead(bounds) for name, bounds in clocks.items()},
        "cold starts": f"{measured.cold_starts}{_at_most(measured.cold_lateness)}",
        "delays of SQS": f"end {phases[measured.delays_in_phase]}{_after(measured.delay_excess)}",
        "timers": _timer(measured.timer_lateness),
    }
    return f"{_histogram(measured)}\n\n{facts('measured', values)}"


def _histogram(measured: Measures) -> str:
    bars = measured.histogram
    most, total = max(bars.values()) or 1, len(measured.lateness)
    lines = [
        f"  {name:>10}  {count:>3}  {'#' * round(_BAR * count / most)}".rstrip()
        for name, count in bars.items()
    ]
    return "\n".join([f"lateness of {counted(total, 'run')}", *lines])


def _ahead(bounds: tuple[float, float] | None) -> str:
    if bounds is None:
        return "not measured"
    return f"{bounds[0]:+.0f} to {bounds[1]:+.0f} ms ahead of this machine's"


def _at_most(late: float | None) -> str:
    return "" if late is None else f", at most {late:.0f} ms late"


def _after(excess: float | None) -> str:
    return "" if excess is None else f"; received {excess:.0f} ms after (median)"


def _timer(late: float | None) -> str:
    return "not measured (--far)" if late is None else plain(f"fired {late / 1000:.1f} s after its time")
