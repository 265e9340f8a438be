"""The languages of mails: one checked file for each."""

import re
from pathlib import Path
from shutil import copy

import pytest

from duetime.errors import DeclarationError
from duetime.notifications.mail import languages, templates, words
from tests.facts.mails import FAILED, Page, received_mail


class TestLanguages:
    def test_languages_are_english_and_french(self):
        assert languages() == ("en", "fr")

    def test_a_country_uses_its_language(self):
        assert received_mail(FAILED, "fr-CA") == received_mail(FAILED, "fr")
        assert received_mail(FAILED, "en-GB") == received_mail(FAILED, "en")

    @pytest.mark.parametrize("requested", ["de", "de-AT", "../fr", "", "<b>"])
    def test_unknown_language_falls_back_to_english_with_note(self, requested):
        line = f"There are no words in '{requested}' yet; this is English."
        made = received_mail(FAILED, requested)
        assert made.subject == received_mail(FAILED, "en").subject
        assert made.text == f"{received_mail(FAILED, 'en').text.rstrip()}\n{line}\n\n"
        assert line in Page(made.html).words

    def test_french_translates_every_text(self):
        english, french = words.words_in("en").texts, words.words_in("fr").texts
        alike = {name for name in french if english[name] == french[name]}
        assert alike == {"layout.direction", "labels.type", "labels.action"}
        assert english.keys() - french.keys() == {"layout.fallback"}

    def test_french_uses_french_typography(self):
        for where, text in words.words_in("fr").texts.items():
            assert not re.search(r" [:;!?»]|« |[^\s][;!?]|[^\s]:|[\"']|\.\.\.", text), where
            assert "«" not in text or re.search("«\u00a0[^«»]+\u00a0»", text), where

    def test_new_language_needs_one_file(self, with_german):
        german = (
            (words.DIRECTORY / "fr.toml").read_text().replace("Une action a échoué", "Eine Aktion scheiterte")
        )
        directory = with_german(german)
        assert languages(directory) == ("de", "en", "fr")
        assert len(templates("", directory)) == 66
        assert "Eine Aktion scheiterte" in received_mail(FAILED, "de-AT", directory=directory).text
        assert 'lang="de"' in received_mail(FAILED, "de", directory=directory).html

    @pytest.mark.parametrize(
        ("written", "instead", "problem"),
        [
            ('tenant = "Tenant"\n', "", "labels.tenant is missing; add it as en.toml has it"),
            (
                'tenant = "Tenant"\n',
                'tenant = "T"\ntenannt = "T"\n',
                "labels.tenannt is not a word of mails; use labels.tenant",
            ),
            (
                'tenant = "Tenant"\n',
                'tenant = "T"\nqqqqqq = "T"\n',
                "labels.qqqqqq is not a word of mails; remove it",
            ),
            ('tenant = "Tenant"\n', 'tenant = ""\n', "labels.tenant is ''; write it in words"),
            ('tenant = "Tenant"\n', "tenant = 7\n", "labels.tenant is 7; write it in words"),
            (
                'tenant = "Tenant"\n',
                'tenant = "{Tenant"\n',
                "labels.tenant has a brace, a backslash or a line break",
            ),
            (
                'tenant = "Tenant"\n',
                'tenant = "A\\nB"\n',
                "labels.tenant has a brace, a backslash or a line break",
            ),
            (
                'tenant = "Tenant"\n',
                'tenant = "{{tenant}}"\n',
                r"labels.tenant uses {{tenant}}; it may use no variable",
            ),
            (
                '{{type}} failed"',
                '{{job}} failed"',
                "scheduling.action_failed.subject uses {{job}}; it may use {{attempts}}, ",
            ),
            ('direction = "ltr"', 'direction = "up"', "layout.direction is 'up'; write 'ltr' or 'rtl'"),
            ('direction = "ltr"', "direction", "is no TOML in UTF-8"),
            (
                '{{total}} actions failed"',
                '{{type}} actions failed"',
                "scheduling.action_failed.digest.subject uses {{type}}; it may",
            ),
        ],
    )
    def test_invalid_file_is_rejected_with_remedy(self, with_german, written, instead, problem):
        english = (words.DIRECTORY / "en.toml").read_text()
        assert written in english
        without_fallback = re.sub("^fallback = .*\n", "", english, flags=re.MULTILINE)
        directory = with_german(without_fallback.replace(written, instead, 1))
        with pytest.raises(DeclarationError) as rejected:
            templates("", directory)
        assert str(rejected.value).startswith("de.toml: ")
        assert problem in str(rejected.value)

    def test_only_english_has_a_fallback_line(self, with_german):
        directory = with_german((words.DIRECTORY / "en.toml").read_text())
        with pytest.raises(DeclarationError, match=r"de\.toml: layout\.fallback is not a word of mails"):
            received_mail(FAILED, "de", directory=directory)

    def test_long_subject_is_truncated(self, with_german):
        french = (words.DIRECTORY / "fr.toml").read_text()
        directory = with_german(french.replace("échec de {{type}}", "scheitern " * 20))
        subject = received_mail(FAILED, "de", directory=directory).subject
        assert len(subject) == 100
        assert subject.endswith("…")

    def test_file_name_is_language(self, tmp_path):
        with pytest.raises(
            DeclarationError, match=r"^german\.toml: is not named for a language; name it as in de\.toml"
        ):
            words.read(Path(copy(words.DIRECTORY / "fr.toml", tmp_path / "german.toml")))

    @pytest.fixture
    def with_german(self, tmp_path):
        """Return a function that puts a German file beside the others and returns their directory."""

        def put(text):
            for file in words.DIRECTORY.glob("*.toml"):
                copy(file, tmp_path)
            (tmp_path / "de.toml").write_text(text)
            return tmp_path

        return put
