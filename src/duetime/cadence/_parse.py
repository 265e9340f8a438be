"""``cron(...)`` and ``parse(...)``: cadences from texts. Other schedulers' spellings are in their errors."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from duetime.cadence.cadence import Cadence
from duetime.cadence.calendars import Calendar
from duetime.cadence.errors import InvalidCadence, InvalidCron
from duetime.cadence.modifiers import Dst, Window, Words
from duetime.cadence.text import read_text
from duetime.cadence.words import as_text

if TYPE_CHECKING:
    from duetime.cadence.bounds import Moment
    from duetime.cadence.crontab import Cron
    from duetime.cadence.expression import DayRule


def cron(
    expression: str,
    *,
    tz: str | ZoneInfo | None = None,
    dst: Dst = "cronos",
    day_rule: DayRule | None = None,
    days: Words | None = None,
    months: Words | None = None,
    weeks: Words | None = None,
    window: Window | None = None,
    calendar: Calendar | None = None,
    offset: str | None = None,
    start: Moment | None = None,
    end: Moment | None = None,
    count: int | None = None,
    except_at: Moment | Iterable[Moment] | None = None,
    spread: str | timedelta | None = None,
) -> Cron:
    """Return the cadence of a cron expression: five fields, six with leading seconds, or a macro.

    Args:
        expression: as in ``"30 2 * * *"``; accepts ``L``, ``L-3``, ``LW``, ``15W``, ``FRIL`` and ``MON#1``.
            Ranges may wrap.
        tz: the IANA zone of its wall clock; by default the app's zone, else UTC.
        dst: the rule for clock changes. ``cronos`` runs times skipped by a gap once, at the gap's end. In an
            overlap it runs intervals in both passes and fixed times in the first. ``vixie`` and
            ``eventbridge`` do as those schedulers do.
        day_rule: required if day-of-month and day-of-week are both restricted (neither ``*`` nor ``?``):
            ``"and"`` for days that match both, ``"or"`` for days that match either.
        days: run only on these weekdays, as in ``"mon-fri"``.
        months: run only in these months, as in ``"jan,jun-aug"``.
        weeks: run only in these weeks of the month, as in ``"first,last"``; the first is the 1st to the 7th.
        window: run only from the first time of day to the second, both included, as in ``("09:00",
            "17:00")``; or in any of a list of windows.
        calendar: dates to exclude, or the only dates to include.
        offset: run so many days later, or earlier: ``"-2d"``, or business days, as in ``"3b"``. It comes
            after ``days``, ``months`` and ``weeks``, and before ``calendar``, which has the business days.
        start: no run is earlier: a date, a local time, or an instant, as in ``"2027-01-04"`` or
            ``"2027-01-04T09:00Z"``.
        end: no run is later; a date includes all of its day.
        count: the number of runs of the job from the start on, at most 10,000; needs ``start``. Deploys that
            change the time go on counting; another ``start`` counts from zero. Excluded times are counted.
        except_at: single times without a run, as in ``["2027-12-24 09:00"]``; a calendar excludes days.
        spread: delay each job by a fixed time less than this, as in ``"10m"``; it depends on the job's name
            and its tenant. It is whole minutes if ``spread`` has several, and comes after all other options.

    Raises:
        InvalidCron: the expression is invalid; a caret marks the mistake.
        NeverFires: no date ever matches.
        InvalidCadence: an option is invalid.
    """
    from duetime.cadence.crontab import Cron  # noqa: PLC0415 - other texts do not need it

    try:
        cadence = Cron.from_expression(
            expression,
            day_rule=day_rule,
            tz=tz,
            dst=dst,
            days=days,
            months=months,
            weeks=weeks,
            window=window,
            calendar=calendar,
            offset=offset,
            start=start,
            end=end,
            count=count,
            except_at=except_at,
            spread=spread,
        )
    except InvalidCron as error:
        from duetime.cadence.dialects import translate_error  # noqa: PLC0415 - only needed for mistakes

        raise translate_error(error, str(expression)) from None
    cadence.check_can_run()
    return cadence


def parse(text: str) -> Cadence:
    """Return the cadence of a text; a text that begins with no kind is a cron expression.

    Raises:
        InvalidCadence: the text is no cadence; a caret marks the mistake. If the text is another scheduler's
            spelling, the remedy is the same cadence in duetime's.
    """
    try:
        return read_text(as_text(text, "daily 09:00"))
    except InvalidCadence as error:
        from duetime.cadence.dialects import translate_error  # noqa: PLC0415 - only needed for mistakes

        raise translate_error(error, str(text)) from None
