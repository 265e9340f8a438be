"""Print how many mutants of the conditions, of the order of calls and of the decisions the tests kill."""

import argparse
import sys

from tests.mutation import instrument

instrument.install()

from tests.mutation.run import main  # noqa: E402 - the package must be imported after that

sys.exit(main(argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)))
