import pytest

from tests.infra.synthesis import Synthesised, stack


@pytest.fixture(scope="session", autouse=True)
def page(tmp_path_factory):
    """A page of the console: no test here needs that of a checkout to be built."""
    built = tmp_path_factory.mktemp("console")
    (built / "index.html").write_text("<!doctype html>")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("duetime.cdk.console.BUILT", built)
        yield built


@pytest.fixture(scope="session")
def bundled():
    """The deployment with its defaults, bundles and all."""
    made, _ = stack(is_bundled=True)
    return Synthesised.from_stack(made)


@pytest.fixture(scope="session")
def synthesised():
    """The deployment with its defaults, without bundles."""
    made, _ = stack()
    return Synthesised.from_stack(made)
