"""The console's files: a screen is loaded when it is shown, and no first screen is heavy."""

import re

from playwright.sync_api import expect

from tests.console.built_console import checkout as checkout  # noqa: PLC0414 - a fixture
from tests.console.built_console import run


def test_a_screen_that_is_too_heavy_fails_the_build(checkout):
    built = run(checkout, "console/build.mjs")
    assert built.returncode == 0, built.stderr
    heaviest = max(float(weight) for weight in re.findall(r"[a-z] (\d+\.\d)", built.stdout))
    assert 30 < heaviest < 90
    script = checkout / "console/build.mjs"
    script.write_text(script.read_text().replace("MOST = 90_000", f"MOST = {int(heaviest * 1000) - 200}"))
    built = run(checkout, "console/build.mjs")
    assert built.returncode != 0
    assert "these weigh over" in built.stderr


def test_a_screen_that_cannot_be_loaded_offers_to_load_the_page_again(reader):
    reader.expected = ("Failed to load resource",)
    reader.page.route("**/assets/limits-*", lambda route: route.abort())
    page = reader.go("#/limits")
    expect(page.get_by_role("heading", level=1)).to_have_text("A part of the console is missing")
    page.unroute_all()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Rate limits")
