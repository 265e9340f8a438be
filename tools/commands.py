"""The commands of a contributor: what each does, how long it takes, and what it needs.

The Makefile has the daily ones. All of them run as ``python -m tools NAME``; further words go to the last
step. CONTRIBUTING.md has this table, and a test compares the two.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
SOURCES = (
    *("src", "contract", "tests", "tools", "functions", "examples", "bench", "rivals", "infra"),
    *("app.py", "hatch_build.py"),
)
APART = ("dynamodb_local", "e2e", "long", "nightly", "moto_too", "browser", "hours", "chaos")
"""The marks of the tests that `test` does not run; each belongs to another lane."""

Step = tuple[str, ...]


def _python(*words: str) -> Step:
    return (sys.executable, *words)


def _module(*words: str) -> Step:
    return _python("-m", *words)


def _pytest(mark: str) -> Step:
    return _module("pytest", "-m", mark)


ONE_PROCESSOR: Step = ("-p", "tests.one_processor")
SUITE = (
    *_pytest(" and ".join(f"not {mark}" for mark in APART)),
    *("-n", "2", "--dist", "worksteal", *ONE_PROCESSOR),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command.

    Attributes:
        what: what it does, as a phrase.
        when: when to run it.
        takes: how long, on two idle cores.
        steps: the programs that it runs, one after the other.
        needs: the programs that must be on the machine.
        is_daily: whether it is a target of the Makefile.
    """

    what: str
    when: str
    takes: str
    steps: tuple[Step, ...]
    needs: tuple[str, ...] = ()
    is_daily: bool = False


COMMANDS: dict[str, Command] = {
    "test": Command(
        what="run the suite over memory, SQLite and moto",
        when="before each commit",
        takes="5 minutes",
        steps=((*SUITE, "-p", "tests.budget"),),
        needs=("node",),
        is_daily=True,
    ),
    "check": Command(
        what="check format, lint, types, import rules, bounds, words and docs, and synthesise the stack",
        when="before each commit",
        takes="2 minutes",
        steps=(
            (f"{BIN}/ruff", "format", "--check", *SOURCES),
            (f"{BIN}/ruff", "check", *SOURCES),
            (f"{BIN}/mypy",),
            ("env", "MYPYPATH=src:examples/starter/src", f"{BIN}/mypy", "examples/starter/app.py"),
            (f"{BIN}/lint-imports",),
            _module("tools.bounds"),
            _module("tools.words"),
            _module("tools.house"),
            _module("tests.docs.site"),
            ("npm", "run", "--silent", "check"),
            ("npx", "--no-install", "cdk", "synth", "--quiet"),
        ),
        needs=("node",),
        is_daily=True,
    ),
    "proof": Command(
        what="simulate random worlds with faults, check changed models and TLA+ modules, and restore",
        when="after a change of a step, a transition or a condition; with 20,000 seeds before a release",
        takes="8 minutes with SEEDS=250",
        steps=((*_pytest("long"), "-n", "2", "--dist", "worksteal", *ONE_PROCESSOR, "tests/proof", "tests"),),
        needs=("java", "node"),
        is_daily=True,
    ),
    "contract": Command(
        what="run the contract suite on Amazon's DynamoDB Local",
        when="after a change of a back end or a condition",
        takes="3 minutes",
        steps=((*_pytest("dynamodb_local"), "-n", "2", "tests/contract"),),
        needs=("java", "node"),
        is_daily=True,
    ),
    "browser": Command(
        what="test the console in a real browser",
        when="after a change of the console or the API",
        takes="6 minutes",
        steps=((*_pytest("browser"), "-n", "2", "--dist", "loadfile", "tests/console"),),
        needs=("node", "chromium"),
        is_daily=True,
    ),
    "e2e": Command(
        what="deploy onto an emulator of AWS, run actions there, and drill restores and failovers",
        when="after a change of the stack or of an entry point",
        takes="15 minutes",
        steps=((*_pytest("e2e"), "-n", "2", "--dist", "loadgroup", "-p", "no:randomly", "tests/e2e"),),
        needs=("node",),
        is_daily=True,
    ),
    "bench": Command(
        what="measure performance against references and other schedulers",
        when="after a change for speed; it writes the figures of the pages",
        takes="20 minutes",
        steps=(_module("bench", "--page"),),
        is_daily=True,
    ),
    "docs": Command(
        what="build the documentation site in site/; a dead link is an error",
        when="to read it; `check` builds it too",
        takes="half a minute",
        steps=(_module("tests.docs.site"),),
        is_daily=True,
    ),
    "ci": Command(
        what="run all checks that a change must pass, side by side",
        when="before a larger change is pushed; `.ci/run` calls it",
        takes="35 minutes",
        steps=(_module("tools.lanes"),),
        needs=("java", "node", "chromium"),
    ),
    "mutation": Command(
        what="run the tests under mutants of the conditions, the order of calls and the logic",
        when="after a change of one: `--only MODULE`, `--kind KIND`, `--sample 60`",
        takes="hours; a sample takes 3 minutes",
        steps=(_module("tests.mutation"),),
    ),
    "guards": Command(
        what="list which test notices each mutant and each removed guard, in tests/guards.csv",
        when="after tests are renamed or moved to another lane",
        takes="1 minute",
        steps=(_module("tests.mutation", "--guards"),),
    ),
    "chaos": Command(
        what="run the steps as processes, kill and freeze them, and lose and delay their requests",
        when="after a change of a step: `--seconds 600 --seed 1 --guards 'claim fence put'`",
        takes="as long as `--seconds`, and as long again for each guard",
        steps=((*_pytest("chaos"), "-n", "0", "-p", "no:randomly", "tests/chaos"),),
        needs=("java", "node"),
    ),
    "hours": Command(
        what="do what the pages say, as ten new users, in empty folders from the wheel",
        when="after a change of the README, the tutorial or a guide",
        takes="4 minutes",
        steps=((*_pytest("hours"), "-n", "2", "tests/first_hours"),),
        needs=("node",),
    ),
    "drill": Command(
        what="of e2e, only what deploys again: after a failure, after a destroy, over restored tables",
        when="after a change of what a deploy keeps",
        takes="10 minutes",
        steps=((*_pytest("drill"), "-p", "no:randomly", "tests/e2e"),),
        needs=("node",),
    ),
    "again": Command(
        what="run the suite ten times, each in another order, up to the first failure",
        when="to find a test that depends on chance",
        takes="an hour",
        steps=(SUITE,) * 10,
        needs=("node",),
    ),
    "nightly": Command(
        what="run the tests that no change waits for, such as all models; each states its reason",
        when="each night",
        takes="15 minutes",
        steps=((*_pytest("nightly"), "-n", "2", "tests"),),
        needs=("java", "node"),
    ),
    "package": Command(
        what="build the archives of a release into dist/, and try them in empty environments",
        when="after a change of the packaging; a release does it",
        takes="20 minutes",
        steps=(_module("tests.supply.try_packages"), _module("tools.bills")),
        needs=("node",),
    ),
    "floors": Command(
        what="run the fast part of the suite with the oldest allowed dependencies",
        when="after a change of a dependency",
        takes="6 minutes",
        steps=(_module("tests.supply.try_floors"),),
    ),
    "pythons": Command(
        what="run the fast part of the suite on each supported Python that is installed",
        when="before a release",
        takes="5 minutes for each Python",
        steps=(_module("tests.supply.try_pythons"),),
    ),
    "lock": Command(
        what="update requirements/*.txt and package-lock.json",
        when="after a change of a dependency",
        takes="1 minute",
        steps=(_module("tools.lock"),),
        needs=("node",),
    ),
    "screenshots": Command(
        what="take pictures of the console's screens, in .cache/screens",
        when="after a change of the console; with `--readme`, also the README's",
        takes="2 minutes",
        steps=(_module("tests.console.screenshots"),),
        needs=("node", "chromium"),
    ),
    "synth": Command(
        what="write the CloudFormation template to cdk.out, without Docker",
        when="to read it",
        takes="half a minute",
        steps=(("npx", "--no-install", "cdk", "synth", "--quiet"),),
        needs=("node",),
    ),
    "rehearse": Command(
        what="deploy the app of cdk.json onto an emulator of AWS, until Ctrl-C",
        when="to try a deployed stack without an account",
        takes="2 minutes",
        steps=((f"{BIN}/duetime", "deployment", "rehearse"),),
        needs=("node",),
    ),
}


def table() -> str:
    """Return the commands as a table for CONTRIBUTING.md."""
    rows = [
        f"| `{'make' if command.is_daily else 'python -m tools'} {name}` | {command.what} | {command.when} |"
        f" {command.takes} |"
        for name, command in COMMANDS.items()
    ]
    return "\n".join(["| command | what it does | when to run it | how long |", "|---|---|---|---|", *rows])


class ProgramMissing(Exception):
    """A program that a command needs is not on this machine, or is too old."""

    def __init__(self, program: str, found: str) -> None:
        self.program = program
        what, install = _REMEDIES[program]
        super().__init__(f"{what} is needed, and {found}. Install it, for example: {install}")


CONTRIBUTING = ROOT / "CONTRIBUTING.md"
_BEGIN, _END = "<!-- commands: `python -m tools.commands` writes this table -->", "<!-- end of commands -->"
_REMEDIES = {
    "java": ("Java 17 or later", "apt-get install openjdk-17-jre-headless"),
    "node": ("Node 20 or later with npm", "apt-get install nodejs npm, or a build from nodejs.org"),
    "chromium": ("chromium", "apt-get install chromium-headless-shell, or chromium"),
}
_OLDEST = {"java": 17, "node": 20}
_CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first one that is installed is used; the one without windows takes half of the processor's time."""


def check_programs(programs: Sequence[str]) -> None:
    """Check that programs are installed, and new enough.

    Raises:
        ProgramMissing: one is not; the message states how to install it.
    """
    for program in programs:
        if not (chromium() if program == "chromium" else shutil.which(program)):
            raise ProgramMissing(program, "it is not on the PATH")
        if program == "node" and not shutil.which("npm"):
            raise ProgramMissing(program, "npm is not on the PATH")
        if program in _OLDEST and (version := _version(program)) < _OLDEST[program]:
            raise ProgramMissing(program, f"the PATH has version {version}")


def chromium() -> str:
    """Return the path of the machine's chromium; empty if it has none."""
    return next((path for name in _CHROMIUMS if (path := shutil.which(name))), "")


def _version(program: str) -> int:
    """Return the first number of a program's version; 0 if it does not run."""
    done = subprocess.run(  # noqa: S603 - a program of this file
        [program, "-version" if program == "java" else "--version"],
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.search(r"\d+", done.stdout + done.stderr)
    return int(found[0]) if found and not done.returncode else 0


def write_page() -> None:
    """Write the table into CONTRIBUTING.md."""
    text = CONTRIBUTING.read_text()
    begin, _, rest = text.partition(_BEGIN)
    CONTRIBUTING.write_text(f"{begin}{_BEGIN}\n{table()}\n{_END}{rest.partition(_END)[2]}")


if __name__ == "__main__":
    write_page()
