"""``python -m tests.model``: explore the models whose text has changed, and store their digests."""

import sys

import pytest

from tests.model import explored


def main() -> int:
    changed = [module for module in explored.MODULES if not explored.is_explored(module)]
    code = pytest.main([*(str(explored.path_of(module)) for module in changed)]) if changed else 0
    if code == 0:
        explored.store()
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
