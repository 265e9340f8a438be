"""The templates of mails: one for each kind and language, safe to fill in, and readable."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from duetime.model.notification import NotificationKind, Severity
from duetime.notifications.mail import languages, templates
from duetime.notifications.mail.layout import DARK, LIGHT
from duetime.notifications.mail.shape import every
from duetime.notifications.mail.templates import name


class TestTemplates:
    def test_templates_cover_kinds_forms_and_languages(self):
        assert len({template.name for template in templates("duetime-")}) == len(NotificationKind) * 2 * len(
            languages()
        )

    @given(st.text("aZ9_-", max_size=40))
    @example("p" * 40)
    def test_names_are_unique_and_within_limits_for_any_prefix(self, prefix):
        named = [name(prefix, kind, "deu", is_digest=is_digest) for kind, is_digest in every()]
        assert len(set(named)) == len(named)
        for template in named:
            assert template.startswith(prefix)
            assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", template)

    def test_styles_contain_no_variable_syntax(self):
        for template in templates(""):
            bare = re.sub(r"\{\{\w+\}\}", "", template.subject + template.text + template.html)
            assert "{{" not in bare
            assert "}}" not in bare

    def test_html_contains_only_escaped_values(self):
        for template in templates(""):
            assert all(found.endswith("_html") for found in re.findall(r"\{\{(\w+)\}\}", template.html))
            assert not any(
                found.endswith("_html")
                for found in re.findall(r"\{\{(\w+)\}\}", template.text + template.subject)
            )

    @pytest.mark.parametrize("palettes", [LIGHT, DARK], ids=["light", "dark"])
    def test_colours_have_the_contrast_that_wcag_aa_requires(self, palettes):
        assert palettes.keys() >= {str(severity) for severity in Severity}
        for palette in palettes.values():
            assert contrast(palette.ink, palette.ground) >= 4.5


def contrast(one, other):
    """Return the contrast ratio of two colours, as WCAG 2 defines it."""

    def luminance(colour):
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)
