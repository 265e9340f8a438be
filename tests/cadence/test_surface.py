"""The public names of the package, and the cost of their import."""

from __future__ import annotations

import subprocess
import sys

import duetime.cadence


def test_every_public_name_can_be_imported():
    assert all(getattr(duetime.cadence, name) for name in duetime.cadence.__all__)
    assert not hasattr(duetime.cadence, "nothing_of_the_kind")


def test_planning_a_cron_job_imports_no_other_kind_of_cadence():
    program = (
        "import sys; from datetime import UTC, datetime; from duetime.cadence import parse;"
        "parse('cron 30 2 * * * tz=Europe/Paris').next_after(datetime(2026, 1, 1, tzinfo=UTC));"
        "print(*sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603
    loaded = set(ran.stdout.split())

    assert not loaded & {"pydantic", "croniter", "boto3", "json", "argparse", "hashlib", "difflib"}
    assert not loaded & {
        f"duetime.cadence.{name}"
        for name in (
            "_daily",
            "_spaced",
            "weeks_and_months",
            "triggers",
            "wakes",
            "explain",
        )
    }


def test_using_every_module_hides_no_public_name():
    program = (
        "import pkgutil, importlib, duetime.cadence as c;"
        "[importlib.import_module('duetime.cadence.' + m.name) for m in pkgutil.iter_modules(c.__path__)];"
        "print(*[n for n in c.__all__ if type(getattr(c, n)).__name__ == 'module'])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603

    assert not ran.stdout.strip()
