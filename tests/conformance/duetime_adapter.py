"""duetime's adapter."""

from datetime import datetime
from itertools import islice

from duetime.cadence import cron
from tests.conformance.adapter import serve


def answer(question):
    """Return the next occurrences."""
    cadence = cron(
        question["expression"],
        tz=question["tz"],
        dst=question["rule"],
        day_rule=question["day_rule"],
    )
    after, until = (datetime.fromisoformat(question[name]) for name in ("after", "until"))
    return islice(cadence.between(after, until), question["count"])


if __name__ == "__main__":
    serve(answer)
