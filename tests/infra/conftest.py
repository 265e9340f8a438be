import pytest

from tests.infra.synthesis import Synthesised, stack, synth


@pytest.fixture(scope="session")
def bundled():
    """The deployment with its defaults, bundles and all."""
    made, _ = stack(is_bundled=True)
    return Synthesised.from_stack(made)


@pytest.fixture(scope="session")
def synthesised():
    """The deployment with its defaults, without bundles."""
    return synth()
