"""``duetime deployment verify``: tests a deployment end to end with probes, and measures it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from duetime._english import counted
from duetime.cli.arguments import Commands, add_command, client_of
from duetime.cli.failures import BadUsage, NoResponse
from duetime.cli.output import print_json
from duetime.cli.progress import ProgressBar
from duetime.cli.tables import facts, plain, table
from duetime.clock import SystemClock

if TYPE_CHECKING:  # imported when it runs: `duetime --help` must be quick
    from duetime.verify.measures import Measures
    from duetime.verify.trial import Result
    from duetime.verify.verify import Verification

_BAR = 40
"""The longest bar of the histogram, in characters."""

_CHAOS = (
    "--chaos ends a worker's process in a run. Other runs in that process are repeated after the lease,"
    " which is minutes."
)


def add_parser(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "verify",
        run,
        "test the deployment end to end with probes, and measure it",
        "Schedule probes, which every worker runs beside the app's actions, and compare their runs with"
        " duetime's promises: about half a minute. It needs the permissions actions:read, actions:manage and"
        " system. Metrics, alarms and events leave probes out; their rows are removed after an hour,"
        " one that is cancelled before its run after the retention. Exit status 1: a check failed.",
    )
    add = parser.add_argument
    add("--far", action="store_true", help="also a probe with a timer: a quarter of an hour")
    add("--chaos", action="store_true", help="also end a worker's process; its other runs are repeated")
    add("--yes", action="store_true", help="with --chaos: without confirmation")
    add("--notify", action="store_true", help="also send a failure and an alarm to their recipients")
    add(
        "--prefix",
        metavar="PREFIX",
        help="with --notify: the deployment's prefix, whose alarms are checked with your AWS credentials"
        " (default: duetime-; none on this machine's cloud)",
    )
    add("--console", metavar="URL", help="the console's address (default: the API's, if it has a console)")


def run(arguments: argparse.Namespace) -> int:
    """Verify, and print the results; return 1 if a check failed."""
    from duetime.verify.verify import Options, Verify  # noqa: PLC0415 - `duetime --help` must be quick

    if arguments.chaos and not arguments.yes:
        _confirm()
    client = client_of(arguments)
    options = Options(far=arguments.far, chaos=arguments.chaos, notify=arguments.notify)
    with ProgressBar("verify") as bar:
        verify = Verify(client, SystemClock(), options, bar.note if sys.stderr.isatty() else _ignore)
        verification = verify(_further(arguments, client.url, client.prefix, verify.run_id))
    if arguments.json:
        print_json(_as_json(client.url, verification))
    else:
        print(f"{client.url}, correlation id {verification.run_id}\n")
        print(_checks(verification.results))
        print(f"\n{_measured(verification.measures)}")
    return 0 if verification.is_ok else 1


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
    from duetime.cli.exchange import exchange, is_loopback  # noqa: PLC0415 - as above
    from duetime.verify.pages import check_pages  # noqa: PLC0415 - as above

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
    values = [
        *((name, _ahead(bounds)) for name, bounds in clocks.items()),
        ("cold starts", f"{measured.cold_starts}{_at_most(measured.cold_lateness)}"),
        ("delays of SQS", f"end {phases[measured.delays_in_phase]}{_after(measured.delay_excess)}"),
        ("timers", _timer(measured.timer_lateness)),
    ]
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
