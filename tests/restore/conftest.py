import logging

import pytest

from tests.quick_moto import fast_path
from tests.restore.drill import Drill, LogGroup


@pytest.fixture
def drill(deployed):
    """A deployment on moto whose log lines are in CloudWatch Logs."""
    made = Drill(deployed)
    handler, logger = LogGroup(made.clock), logging.getLogger("duetime")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    with fast_path():
        yield made
    logger.removeHandler(handler)
    logger.setLevel(level)
