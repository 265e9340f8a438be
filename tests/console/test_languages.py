"""A further language is one file, and is loaded only if it is chosen."""

import re

from playwright.sync_api import expect

from tests.console.built_console import checkout as checkout  # noqa: PLC0414 - a fixture
from tests.console.built_console import run

LANGUAGES = "console/src/languages"


def types(checkout):
    return run(checkout, "node_modules/typescript/bin/tsc", "--project", "console")


def test_a_third_language_is_one_file_without_a_missing_text(checkout):
    french = (checkout / LANGUAGES / "fr.ts").read_text()
    german = checkout / LANGUAGES / "de.ts"
    german.write_text(french)
    built = run(checkout, "console/build.mjs")
    assert built.returncode == 0, built.stderr
    assets = checkout / "src/duetime/console/built/assets"
    assert len(list(assets.glob("de-*.js"))) == len(list(assets.glob("fr-*.js"))) == 1
    assert '["de","fr"]' in "".join(file.read_text() for file in assets.glob("*.js"))
    assert types(checkout).stdout == ""
    german.write_text(re.sub(r"^ +sign_out: .*\n", "", french, flags=re.MULTILINE))
    assert "'sign_out' is missing" in types(checkout).stdout


def test_words_that_are_named_for_another_file_fail_the_build(checkout):
    words = checkout / "console/src/app.words.ts"
    words.write_text(words.read_text().replace('words("app"', 'words("frame"'))
    built = run(checkout, "console/build.mjs", "--types")
    assert built.returncode != 0
    assert 'name its words "app" or "app.mine", not "frame"' in built.stderr


def test_a_language_is_loaded_when_it_is_chosen(reader):
    requested = []
    reader.page.on("request", lambda request: requested.append(request.url))
    page = reader.go()
    assert not [url for url in requested if "/assets/fr-" in url]
    page.get_by_label("Language").select_option(label="Français")
    expect(page.get_by_role("navigation").get_by_role("link", name="Tâches")).to_be_visible()
    assert len([url for url in requested if "/assets/fr-" in url]) == 1
    page.reload()
    expect(page.get_by_role("navigation").get_by_role("link", name="Tâches")).to_be_visible()


def test_a_language_whose_file_is_out_of_reach_leaves_the_page_in_english(reader):
    reader.expected = ("Failed to load resource",)
    reader.page.route("**/assets/fr-*", lambda route: route.abort())
    page = reader.go()
    page.get_by_label("Language").select_option("fr")
    expect(page.get_by_text("The texts in Français could not be loaded")).to_be_visible()
    expect(page.get_by_label("Language")).to_have_value("en")
    expect(page.get_by_role("navigation").get_by_role("link", name="Jobs")).to_be_visible()
