"""The command line. A command is a module with ``add_parser``; it imports heavy modules when it runs."""

from duetime.cli.main import main

__all__ = ["main"]
