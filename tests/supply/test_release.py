"""A release is refused with one clear message, or leaves changelog, numbers, archives, a commit and a tag."""

from datetime import date

import pytest

from tests.supply.project import ROOT
from tools.bills import without_local_addresses
from tools.release import CannotRelease, Clone, release, unreleased, with_heading

DAY = date(2027, 6, 1)
CHANGELOG = """# Changelog

## Unreleased

### Added

- A thing.

## 0.1.0 - 2026-11-22

The first release.
"""

CONTRACT = """\
[project]
version = "0.1.0"
dependencies = ["duetime==0.1.0", "pytest>=8"]
"""


@pytest.fixture
def clone(tmp_path):
    """A small project in a repository, with a remote of nothing."""
    for name in ("CHANGELOG.md", "contract/pyproject.toml", "src/duetime/api/openapi/document.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "duetime"\nversion = "0.1.0"\n')
    (tmp_path / "contract/pyproject.toml").write_text(CONTRACT)
    (tmp_path / "src/duetime/api/openapi/document.py").write_text('VERSION = "0.1.0"\n')
    (tmp_path / "src/duetime/api/openapi/served.json").write_text("{}\n")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/openapi.json").write_text("{}\n")
    made = Clone(tmp_path)
    made.git("init", "--quiet")
    for name, value in {
        "user.name": "Ada",
        "user.email": "ada@example.com",
        "core.hooksPath": "none",
    }.items():
        made.git("config", name, value)
    made.git("add", ".")
    made.git("commit", "--quiet", "--message", "Begin")
    return made


def no_archives(_clone, _version):
    """Stand for the build, which `python -m tools package` tests."""


def test_a_release_writes_heading_and_numbers_and_commits_and_tags_them(clone):
    seen = []

    def make(where, version):
        seen.append((where.root, version))
        golden = where.root / "tests/supply/golden"
        golden.mkdir(parents=True)
        for end in (".json", ".reader.json"):
            (golden / f"{version}{end}").write_text("{}")

    release(clone, "0.2.0", DAY, make)
    changelog = (clone.root / "CHANGELOG.md").read_text()
    assert "## Unreleased\n\n## 0.2.0 - 2027-06-01\n\n### Added\n\n- A thing.\n" in changelog
    assert 'version = "0.2.0"' in (clone.root / "pyproject.toml").read_text()
    contract = (clone.root / "contract/pyproject.toml").read_text()
    assert contract == CONTRACT.replace("0.1.0", "0.2.0")
    assert 'VERSION = "0.2.0"' in (clone.root / "src/duetime/api/openapi/document.py").read_text()
    assert clone.git("describe", "--exact-match").strip() == "v0.2.0"
    assert clone.git("log", "-1", "--format=%s").strip() == "Release 0.2.0"
    assert clone.git("status", "--porcelain") == ""
    assert seen == [(clone.root, "0.2.0")]


@pytest.mark.parametrize("version", ["", "0.2", "v0.2.0", "0.2.0rc1", "01.2.0"])
def test_what_is_no_version_is_refused(clone, version):
    with pytest.raises(CannotRelease, match="is no version; use three numbers: make release VERSION="):
        release(clone, version, DAY, no_archives)


def test_a_dirty_tree_is_refused_with_its_files(clone):
    (clone.root / "new.py").write_text("")
    with pytest.raises(CannotRelease, match=r"uncommitted changes; commit or discard them: \?\? new\.py"):
        release(clone, "0.2.0", DAY, no_archives)


def test_a_version_that_exists_is_refused(clone):
    with pytest.raises(CannotRelease, match=r"version 0\.1\.0 exists"):
        release(clone, "0.1.0", DAY, no_archives)
    clone.git("tag", "v0.2.0")
    with pytest.raises(CannotRelease, match=r"version 0\.2\.0 exists"):
        release(clone, "0.2.0", DAY, no_archives)


def test_a_version_before_the_newest_is_refused(clone):
    with pytest.raises(CannotRelease, match=r"0\.0\.9 is older than 0\.1\.0"):
        release(clone, "0.0.9", DAY, no_archives)


@pytest.mark.parametrize("section", ["## Unreleased\n\n### Added\n\n", "## Unreleased\n\n", ""])
def test_nothing_unreleased_is_refused(clone, section):
    begin, *_ = CHANGELOG.partition("## Unreleased\n")
    (clone.root / "CHANGELOG.md").write_text(f"{begin}{section}## 0.1.0 - 2026-11-22\n\nThe first release.\n")
    clone.git("commit", "--quiet", "--all", "--message", "Empty")
    with pytest.raises(CannotRelease, match="nothing under Unreleased"):
        release(clone, "0.2.0", DAY, no_archives)


def test_a_step_that_fails_leaves_neither_changes_nor_a_tag(clone):
    def fails(where, _version):
        where.run("git", "no-such-command")

    with pytest.raises(CannotRelease, match="`git no-such-command` failed"):
        release(clone, "0.2.0", DAY, fails)
    assert clone.git("status", "--porcelain") == clone.git("tag") == ""
    assert (clone.root / "CHANGELOG.md").read_text() == CHANGELOG


def test_this_projects_changelog_can_be_released():
    changelog = (ROOT / "CHANGELOG.md").read_text()
    assert unreleased(with_heading(changelog, "99.0.0", DAY)).strip() == ""
    assert changelog.count("\n## Unreleased\n") == 1


def test_a_bill_of_materials_names_no_file_of_the_machine_that_made_it():
    local, public = (
        {"type": "distribution", "url": url} for url in ("file:///home/ada/d.whl", "https://a.example")
    )
    bill = {
        "bomFormat": "CycloneDX",
        "components": [
            {"name": "duetime", "externalReferences": [local]},
            {"name": "boto3", "externalReferences": [local, public]},
            {"name": "tzdata"},
        ],
    }
    assert without_local_addresses(bill) == {
        "bomFormat": "CycloneDX",
        "components": [
            {"name": "duetime"},
            {"name": "boto3", "externalReferences": [public]},
            {"name": "tzdata"},
        ],
    }
