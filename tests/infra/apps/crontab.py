"""Twelve lines of a crontab as jobs."""

import logging

from duetime import App, cron

LINES = {
    "db-backup": "30 2 * * *",
    "log-rotate": "0 0 * * *",
    "report-daily": "0 7 * * 1-5",
    "report-weekly": "0 8 * * 1",
    "report-monthly": "0 9 1 * *",
    "cache-warm": "*/15 * * * *",
    "mail-digest": "0 18 * * *",
    "certificate-check": "0 6 * * *",
    "disk-check": "5 * * * *",
    "session-clean": "20 3 * * *",
    "index-rebuild": "0 4 * * 0",
    "invoice-export": "45 23 * * *",
}

app = App()


def declare(name: str, line: str) -> None:
    """Declare a job that logs its name, in the place of a line's command."""

    def command() -> None:
        logging.getLogger(__name__).info(name)

    app.job(cron(line), name=name)(command)


for name, line in LINES.items():
    declare(name, line)
