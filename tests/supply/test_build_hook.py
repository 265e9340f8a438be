"""The build hook builds a missing console, and otherwise names the remedies."""

import pytest

from hatch_build import PAGE, SOURCE, ConsoleMissing, build_console

NODE = """#!/bin/sh
mkdir -p src/duetime/console/built && echo made > src/duetime/console/built/index.html
"""


@pytest.fixture
def checkout(tmp_path):
    (tmp_path / SOURCE).parent.mkdir()
    (tmp_path / SOURCE).write_text("")
    return tmp_path


def program(directory, name, script):
    path = directory / name
    path.write_text(script)
    path.chmod(0o755)
    return str(path)


def test_a_missing_console_is_built_with_node(checkout):
    programs = {
        "npm": program(checkout, "npm", "#!/bin/sh\necho $@ > npm.log\n"),
        "node": program(checkout, "node", NODE),
    }
    build_console(checkout, programs.get)
    assert (checkout / "npm.log").read_text().startswith("ci ")
    assert (checkout / PAGE).read_text() == "made\n"


def test_a_console_that_is_there_needs_no_node(checkout):
    (checkout / PAGE).parent.mkdir(parents=True)
    (checkout / PAGE).write_text("built before")
    build_console(checkout, {}.get)
    assert (checkout / PAGE).read_text() == "built before"


def test_without_node_the_error_names_what_is_missing_and_each_remedy(checkout):
    with pytest.raises(ConsoleMissing, match="needs npm, which the PATH lacks") as raised:
        build_console(checkout, {"node": "/bin/true"}.get)
    for remedy in ("Node 20", "pip install duetime", "HATCH_BUILD_NO_HOOKS=true"):
        assert remedy in str(raised.value)


def test_a_source_archive_without_the_console_and_its_source_says_so(tmp_path):
    with pytest.raises(ConsoleMissing, match=f"so is its source, {SOURCE}"):
        build_console(tmp_path)


def test_a_step_that_fails_is_named_with_its_output(checkout):
    broken = program(checkout, "npm", "#!/bin/sh\necho no registry >&2\nexit 3\n")
    with pytest.raises(ConsoleMissing, match=r"(?s)`npm ci` failed:\nno registry"):
        build_console(checkout, {"npm": broken, "node": "/bin/true"}.get)
