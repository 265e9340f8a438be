"""The command: records what each test reaches, runs the tests under each mutant, and reports."""

import argparse
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

import pytest

from duetime.clock import SystemClock
from tests.mutation import coverage_map, guards, processes, report
from tests.mutation import mutant as mutants
from tests.mutation.coverage_map import ROOT, TestRecord
from tests.mutation.mutant import Mutant
from tests.mutation.results import (
    STALE,
    TIMED_OUT,
    Result,
    Results,
    read_conditions,
    read_killers,
    read_reasons,
    write_conditions,
    write_killers,
)
from tests.mutation.session import Session
from tools.commands import APART

SUITES = (
    "contract,journeys,facts,functions,standby,"
    "api,cadence,cli,model,proof,recount,restore,sqlite,targets,verify"
)
"""The tests that run under mutants: not those of the console, and of the stack and its rights."""

MARKS = " and ".join(f"not {mark}" for mark in APART if mark != "moto_too")
"""`make test` runs all of them but some over moto, which DynamoDB Local judges in the contract lane."""

BUDGET = 10
"""The longest processor time of one mutant's tests without it, in seconds: the likely ones come first."""


def main(parser: argparse.ArgumentParser) -> int:
    parser.add_argument(
        "--only", metavar="MODULES", default="", help="only mutants of these modules, or packages"
    )
    parser.add_argument(
        "--kind", choices=("conditions", "calls", "logic"), default="", help="only mutants of this kind"
    )
    parser.add_argument("--sample", metavar="N", type=int, help="only so many, by their known killers")
    parser.add_argument("--new", metavar="N", type=int, help="only so many of those without a result")
    today = SystemClock().now().toordinal()
    parser.add_argument(
        "--seed", metavar="S", type=int, default=today, help="the sample's; without it, one a day"
    )
    parser.add_argument(
        "--tests", metavar="DIRS", default=SUITES, help="only these, such as contract,journeys"
    )
    parser.add_argument(
        "--budget", metavar="S", type=float, default=BUDGET, help="the longest time of one mutant's tests"
    )
    parser.add_argument("--record", action="store_true", help="only list the conditions that tests send")
    parser.add_argument("--guards", action="store_true", help="only write which test kills which mutant")
    options = parser.parse_args()
    if options.guards:
        return guards.main()
    run = Sample(options) if options.sample else Complete(options)
    session = Session(run)
    ends = pytest.main([*run.tests(), *_PYTEST, "-m", MARKS], plugins=[session])
    return session.code if ends == pytest.ExitCode.OK else int(ends)


_WITHOUT = ("randomly", "cacheprovider", "unraisableexception")
"""Plugins: the last one fails a test for garbage that another has left, so it would kill any mutant."""

_PYTEST = ("-q", "-s", *(f"-pno:{name}" for name in _WITHOUT), "--no-header", "--no-summary")


MUTANTS_OF_A_FILE = 3
"""How many mutants of a sample have their killers in one file, on average."""


class Complete:
    """All mutants, over all tests that reach them."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options

    def tests(self) -> list[str]:
        return [str(ROOT / "tests" / suite) for suite in self._options.tests.split(",")]

    def __call__(self, session: Session) -> int:
        records = recorded(session)
        seen = {condition for record in records for condition in record.conditions}
        write_conditions(seen, is_complete=self._options.tests == SUITES)
        if self._options.record:
            write_killers([], {mutant.id for mutant in mutants.all_of(read_conditions())})
            return 0
        chosen = [mutant for mutant in mutants.all_of(seen) if is_chosen(mutant, self._options)]
        if self._options.new:
            new = without_result(chosen)
            draw = random.Random(self._options.seed)  # noqa: S311 - a seed repeats it
            chosen = draw.sample(new, min(self._options.new, len(new)))
        results = list(run_mutants(session, chosen, records, self._options.budget))
        listed = list(mutants.all_of(read_conditions()))
        write_killers(results, {mutant.id for mutant in listed})
        report.say(f"{len(without_result(listed))} of {len(listed)} mutants have neither killer nor reason")
        return report.print_report(results, read_reasons())


def is_chosen(mutant: Mutant, options: argparse.Namespace) -> bool:
    return mutant.module.startswith(tuple(options.only.split(","))) and options.kind in {mutant.kind, ""}


def without_result(listed: Iterable[Mutant]) -> list[Mutant]:
    """Return those of which the repository has neither a killer nor a reason."""
    known = {*read_killers(), *read_reasons()}
    return [mutant for mutant in listed if mutant.id not in known]


def recorded(session: Session) -> list[TestRecord]:
    """Return what each test reaches; record those files whose records are missing or old."""
    files = session.files()
    missing = [path for path, names in files.items() if not coverage_map.is_recorded(path, names)]
    report.say(f"{len(files)} files of tests, {len(missing)} to record")

    def record(path: Path) -> None:
        coverage_map.write(path, session.record(files[path]))

    session.warm_up()
    for number, (path, _) in enumerate(processes.run_all(missing, record), 1):
        report.say(f"recorded {number} of {len(missing)}: {path.relative_to(ROOT)}")
    records = coverage_map.read(list(files))
    for test in records:
        if not test.passed:
            report.say(f"fails without a mutant, left out: {test.name}")
    return [test for test in records if test.passed]


def run_mutants(
    session: Session, chosen: Sequence[Mutant], records: Sequence[TestRecord], budget: float
) -> Iterable[Result]:
    """Yield the result of each mutant: a stored one if it holds, or a new one.

    Without a test that reaches it, it survives.
    """
    stored, known_killers, reaching = Results(budget), read_killers(), Reach(records, budget, session.has)
    left = []
    for mutant in chosen:
        known = stored.valid(mutant, (test.name for test in reaching.of(mutant)))
        if known:
            yield known
        elif not reaching.of(mutant):
            yield Result(mutant, None)
        else:
            left.append(mutant)
    report.say(f"{len(chosen)} mutants, {len(left)} to run")

    killed_beside = defaultdict(Counter)
    for name, killer in known_killers.items():
        killed_beside[name.partition(" | ")[0]][killer] += 1

    def work(mutant: Mutant) -> dict[str, str | None]:
        former = [stored.hint(mutant), known_killers.get(mutant.id)]
        likely = [*former, *(name for name, _ in killed_beside[mutant.where].most_common())]
        return {"killer": session.killer(mutant, reaching.cheapest_first(mutant, likely))}

    for number, (mutant, found) in enumerate(processes.run_all(left, work), 1):
        result = Result(mutant, TIMED_OUT if found is None else found["killer"])
        killed_beside[mutant.where].update({result.killer} - {None, TIMED_OUT})
        stored.add(result, (test.name for test in reaching.of(mutant)))
        report.say(f"{number}/{len(left)} {report.line(result)}")
        yield result


class Reach:
    """Which tests reach which mutants, so that the result may be another one."""

    def __init__(
        self, records: Sequence[TestRecord], budget: float, is_in_lane: Callable[[str], bool]
    ) -> None:
        self._budget, self._is_in_lane = budget, is_in_lane
        self._by_function, self._by_condition = defaultdict(list), defaultdict(list)
        self._of_file = Counter(file_of(record.name) for record in records)
        for record in records:
            for name in record.functions:
                self._by_function[name].append(record)
            for site, text in {(site, text) for site, text, _ in record.conditions}:
                self._by_condition[site, text].append(record)

    def of(self, mutant: Mutant) -> Sequence[TestRecord]:
        if mutant.condition:
            return self._by_condition[mutant.condition[:2]]
        reaching = self._by_function[mutant.where]
        if mutant.keys is None:
            return reaching
        key, version = mutant.keys
        return [one for one in reaching if key in one.differences or version not in one.differences]

    def cheapest_first(self, mutant: Mutant, likely: Sequence[str | None]) -> list[tuple[str, float]]:
        """Return the tests to run, up to the budget: the likely ones, then the cheap and narrow ones.

        Those of `make test` come before those of other lanes. Likely are those that killed it before, or
        another mutant of the function; then those that are cheap, share words with it, and are in a file of
        which many tests reach it. Of each file one comes first, then another.
        """
        ranks = {name: rank for rank, name in reversed(list(enumerate(likely)))}
        reaching, words = self.of(mutant), words_of(mutant.id)
        here, before = Counter(file_of(record.name) for record in reaching), Counter[str]()

        def worth(record: TestRecord) -> float:
            file = file_of(record.name)
            shared = len(words & words_of(record.name.partition("[")[0]))
            return here[file] / self._of_file[file] * (1 + shared) / (0.05 + record.seconds)

        order = []
        for record in sorted(reaching, key=lambda record: (-worth(record), record.name)):
            file, rank = file_of(record.name), ranks.get(record.name, len(ranks) + 1)
            is_later = not self._is_in_lane(record.name)
            order.append((is_later, rank, before[file], -worth(record), record.seconds, record.name))
            before[file] += 1
        spent, chosen = 0.0, []
        for *_, seconds, name in sorted(order):
            if chosen and spent + seconds > self._budget:
                continue
            spent += seconds
            chosen.append((name, seconds))
        return chosen


def file_of(test: str) -> str:
    return test.partition("::")[0]


@cache
def words_of(name: str) -> frozenset[str]:
    """Return the beginnings of the words of a name: those of pause, pauses and paused are one."""
    found = re.findall("[A-Z]?[a-z]+", name)
    return frozenset(word.lower()[:5].rstrip("s") for word in found if len(word) > 3) - _COMMON


_COMMON = frozenset(["self", "test", "tests", "with", "none", "that", "never", "witho", "field", "becam"])


class Sample:
    """Some mutants, over the tests that killed them in the last complete run."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._killers = read_killers()
        listed = [one for one in mutants.all_of(read_conditions()) if is_chosen(one, options)]
        known = [mutant for mutant in listed if self._killers.get(mutant.id, TIMED_OUT) != TIMED_OUT]
        report.say(
            f"{len(without_result(listed))} mutants have neither killer nor reason;"
            " python -m tests.mutation --new N runs them"
        )
        draw = random.Random(options.seed)  # noqa: S311 - a seed repeats it
        self._chosen = self._of_few_files(draw.sample(known, len(known)), options.sample)
        report.say(f"a sample of {len(self._chosen)} mutants; --seed {options.seed} draws it again")

    def _of_few_files(self, drawn: Sequence[Mutant], most: int) -> Sequence[Mutant]:
        """Return the first ones whose killers are in few files: the collection of a file costs more."""
        files = list(dict.fromkeys(self._file_of(mutant) for mutant in drawn))[: most // MUTANTS_OF_A_FILE]
        return [mutant for mutant in drawn if self._file_of(mutant) in files][:most]

    def _file_of(self, mutant: Mutant) -> str:
        return self._killers[mutant.id].split("::")[0]

    def tests(self) -> list[str]:
        files = {self._file_of(mutant) for mutant in self._chosen}
        return sorted(str(ROOT / path) for path in files if (ROOT / path).exists())

    def __call__(self, session: Session) -> int:
        def work(mutant: Mutant) -> dict[str, str | None]:
            killer = self._killers[mutant.id]
            beside = [name for name in session.names if name.split("::")[0] == self._file_of(mutant)]
            order = sorted(beside, key=lambda name: name != killer)
            found = session.killer(mutant, [(name, 1.0) for name in order])
            if not mutant.condition or session.wire.has_changed:
                return {"killer": found}
            if found is not None:
                raise RuntimeError(f"{found} fails without a mutant")
            return {"killer": STALE}

        session.warm_up()
        chosen = [mutant for mutant in self._chosen if session.has(self._killers[mutant.id])]
        report.say(f"the contract lane has the killers of {len(self._chosen) - len(chosen)} of them")
        results = [
            Result(mutant, TIMED_OUT if found is None else found["killer"])
            for mutant, found in processes.run_all(chosen, work)
        ]
        return report.print_report(results, {})
