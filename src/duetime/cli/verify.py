"""``duetime deployment verify``: tests a deployment end to end with probes, and measures it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from duetime._english import counted
from duetime.cli.client import client_of
from duetime.cli.exchange import exchange, is_loopback
from duetime.cli.failures import BadUsage, NoResponse
from duetime.cli.output import ProgressBar, print_either
from duetime.cli.tables import Table, facts
from duetime.clock import SystemClock
from duetime.verify.measures import Measures
from duetime.verify.pages import check_pages
from duetime.verify.trial import Result
from duetime.verify.verify import Options, Verify

_BAR = 40
"""The longest bar of the histogram, in characters."""

_CHAOS = (
    "--chaos ends a worker's process in a run. Other runs in that process are repeated after the lease,"
    " which is minutes."
)


def run(arguments: argparse.Namespace) -> int:
    """Verify, and print the results; return 1 if a check failed."""
    if arguments.chaos and not arguments.yes:
        if not sys.stdin.isatty():
            raise BadUsage(f"{_CHAOS} There is no terminal to confirm it; add --yes")
        if input(f"{_CHAOS} Continue? [y/N] ").strip().lower() not in {"y", "yes"}:
            raise BadUsage("not confirmed, nothing was scheduled")
    client = client_of(arguments)
    options = Options(far=arguments.far, chaos=arguments.chaos, notify=arguments.notify)
    with ProgressBar("verify") as bar:
        verify = Verify(client, SystemClock(), options, bar.note if sys.stderr.isatty() else lambda _: None)
        verification = verify(_further(arguments, client.url, client.prefix, verify.run_id))
    content: dict[str, Any] = {
        "url": client.url,
        "correlation_id": verification.run_id,
        "status": "ok" if verification.is_ok else "failed",
        "checks": [result._asdict() for result in verification.results],
        "measures": verification.measures.to_json(),
    }
    parts = (
        f"{client.url}, correlation id {verification.run_id}",
        _CHECKS(content["checks"], SystemClock().now()),
        _measured(verification.measures),
    )
    return print_either(arguments, content, lambda: "\n\n".join(parts)) or int(not verification.is_ok)


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


_CHECKS = Table(
    {
        "CHECK": "name",
        "STATE": "state",
        "EXPECTED": "expected",
        "ACTUAL": "actual",
        "REMEDY": lambda check, _: (check["state"] != "ok" and check["remedy"]) or "-",
    }
)
_PHASES = {
    True: "in phase with the send",
    False: "at whole seconds, so workers wait longer",
    None: "not measured",
}


def _measured(measured: Measures) -> str:
    late, excess, timer = measured.cold_lateness, measured.delay_excess, measured.timer_lateness
    end = "" if excess is None else f"; received {excess:.0f} ms after (median)"
    fired = "not measured (--far)" if timer is None else f"fired {timer / 1000:.1f} s after its time"
    values = {
        "API's clock": _ahead(measured.api_clock_ahead),
        "workers' clock": _ahead(measured.worker_clock_ahead),
        "cold starts": f"{measured.cold_starts}{'' if late is None else f', at most {late:.0f} ms late'}",
        "delays of SQS": f"end {_PHASES[measured.delays_in_phase]}{end}",
        "timers": fired,
    }
    bars, total = measured.histogram, len(measured.lateness)
    most = max(bars.values()) or 1
    lines = [
        f"  {name:>10}  {count:>3}  {'#' * round(_BAR * count / most)}".rstrip()
        for name, count in bars.items()
    ]
    histogram = "\n".join([f"lateness of {counted(total, 'run')}", *lines])
    return f"{histogram}\n\n{facts('measured', values)}"


def _ahead(bounds: tuple[float, float] | None) -> str:
    if bounds is None:
        return "not measured"
    return f"{bounds[0]:+.0f} to {bounds[1]:+.0f} ms ahead of this machine's"
