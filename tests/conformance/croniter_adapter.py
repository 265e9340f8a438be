"""croniter's adapter, as an example: it has one rule for clock changes, and is held against vixie's."""

from datetime import datetime
from itertools import islice
from zoneinfo import ZoneInfo

from croniter import CroniterError, croniter

from tests.conformance.adapter import Unsupported, serve


def answer(question):
    """Return the next occurrences."""
    if question["rule"] != "vixie":
        raise Unsupported("croniter has one rule")
    after, until = (
        datetime.fromisoformat(question[name]).astimezone(ZoneInfo(question["tz"]))
        for name in ("after", "until")
    )
    try:
        search = croniter(question["expression"], after, day_or=question["day_rule"] == "or")
        runs = [*islice(iter(lambda: search.get_next(datetime), None), question["count"])]
    except (CroniterError, KeyError, ValueError) as error:
        raise Unsupported(str(error)) from None
    return [at for at in runs if at <= until]


if __name__ == "__main__":
    serve(answer)
