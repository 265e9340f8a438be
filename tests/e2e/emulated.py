"""The environment of tests that call the emulator, and nothing else of AWS."""

from duetime.rehearsal.emulator import environment_of

UNCHECKED = {"CDK_VALIDATION": "false"}
"""CDK checks a template for as long as it makes it, and only warns. `make check` and tests/infra let it."""


def use_emulator(patch, endpoint):
    """Let every AWS client of this process, and of CDK's command line, know the emulator only."""
    for name in ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN"):
        patch.delenv(name, raising=False)
    for name, value in (environment_of(endpoint) | UNCHECKED).items():
        patch.setenv(name, value)
