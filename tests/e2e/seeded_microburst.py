"""microburst, throwing its dice from a seed.

A program: ``python seeded_microburst.py SEED``, then microburst's own words.
"""

import random
import sys

from microburst.cli import main

if __name__ == "__main__":
    seed, *words = sys.argv[1:]
    random.seed(int(seed))
    sys.exit(main(words))
