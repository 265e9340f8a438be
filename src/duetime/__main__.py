"""``python -m duetime`` is the command line too."""

import sys

from duetime.cli import main

sys.exit(main())
