"""Checks of the repository itself, run by ``make check``."""

import os

from duetime.rehearsal import SILENT_NODE

os.environ.update(SILENT_NODE)  # noqa: TID251 - for the programs that a command starts
