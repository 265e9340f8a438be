import logging

import pytest

from tests.proof.numbers import FIRST_OF_MANY, KINDS, SEEDS, first_seed_of, name_of


def pytest_addoption(parser):
    """Add the options; pytest has them if the command names this directory, as ``make proof`` does."""
    parser.addoption("--seeds", type=int, default=SEEDS, help="how many worlds the long proof lives through")
    parser.addoption("--first-seed", type=int, help="the first of them; by default another one each day")


def pytest_configure(config):
    """Read the day once: the workers of xdist get the options, so all have the seeds of the same day."""
    if getattr(config.option, "first_seed", FIRST_OF_MANY) is None:
        config.option.first_seed = first_seed_of(config.option.seeds)


def pytest_report_header(config):
    return f"proof: --seeds {config.option.seeds} --first-seed {config.option.first_seed}"


def pytest_generate_tests(metafunc):
    """Give each test the seeds of its module's kind of world."""
    if "few_seeds" in metafunc.fixturenames:
        few = KINDS[_module_of(metafunc)].chunks_of_few()
        metafunc.parametrize("few_seeds", few, ids=name_of)
    if "many_seeds" in metafunc.fixturenames:
        seeds = metafunc.config.getoption("--seeds", SEEDS)
        first = metafunc.config.getoption("--first-seed", FIRST_OF_MANY)
        many = KINDS[_module_of(metafunc)].chunks_of_many(first, seeds)
        metafunc.parametrize("many_seeds", many, ids=name_of)


def _module_of(metafunc):
    return metafunc.module.__name__.rpartition(".")[2]


@pytest.fixture(autouse=True)
def _quiet():
    """Disable the log: the story has the faults, and logging them costs more than the simulation."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)
