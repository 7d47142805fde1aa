"""Slugs, ids and diffs split no word at a vowel sign, a point or an invisible character."""

from __future__ import annotations

import pytest

from agents_app.providers.demo.proposals import _WORD
from content.document.differences import TOKEN
from content.find_replace.services import Substitution
from forms.admin.form_admin import name_for
from proofroom.accounts.models import validate_username
from proofroom.accounts.services.users import username_for
from proofroom.core.errors import RuleViolation
from proofroom.core.slugs import (
    ascii_slug_of,
    cut_slug,
    is_slug,
    numbered_slugs,
    slug_of,
    spells_out,
)
from proofroom.core.validation.slugs import clean_slug
from proofroom.definitions.richtext.html import unique_heading_id
from proofroom.definitions.richtext.markdown_reader import from_markdown
from proofroom.definitions.richtext.markdown_writer import to_markdown
from tests.api_client import ApiClient

SLUGS = {
    "नमस्ते दुनिया": "नमस्ते-दुनिया",
    "தமிழ் மொழி": "தமிழ்-மொழி",
    "বাংলা ভাষা": "বাংলা-ভাষা",
    "ที่นี่ประเทศไทย": "ที่นี่ประเทศไทย",
    "น้ำทำ": "น้ำทำ",
    "ພາສາລາວ ນ້ຳ": "ພາສາລາວ-ນ້ຳ",
    "ភាសាខ្មែរ": "ភាសាខ្មែរ",
    "မြန်မာ ဘာသာ": "မြန်မာ-ဘာသာ",
    "مَرْحَبًا بالعالم": "مَرْحَبًا-بالعالم",
    "שָׁלוֹם עולם": "שָׁלוֹם-עולם",
    "İSTANBUL İLÇELERİ": "istanbul-ilçeleri",
    "I\u0307zmir": "izmir",
    "Zusam\u00admen\u00adarbeit": "zusammenarbeit",
    "Long\u200bword\u2060breaks\ufeff": "longwordbreaks",
    "Cafe\u0301 u\u0308ber": "café-über",
    "می\u200cخواهم بروم": "می\u200cخواهم-بروم",
    "ක්\u200dරියා": "ක්\u200dරියා",
    "അവന്\u200d വന്നു": "അവന്\u200d-വന്നു",
    "In\u200cline\u200d, left\u200e to\u202c right": "inline-left-to-right",
    "1️⃣ Tip ❤️ 👨\u200d👩\u200d👧 now": "1-tip-now",
    "ﬁlter m² don't a_b": "filter-m2-don-t-a-b",
    "ガギグ か\u3099": "ガギグ-が",
}


@pytest.mark.parametrize(("title", "slug"), SLUGS.items())
def test_a_slug_has_whole_words_and_can_be_typed(title: str, slug: str) -> None:
    assert slug_of(title) == slug
    assert clean_slug(slug, 120) == slug
    assert slug_of(slug) == slug
    assert unique_heading_id(title, set()) == slug


def test_typed_slugs_are_composed_and_have_nothing_unseen() -> None:
    assert clean_slug("u\u0308ber", 20) == "über"
    for slug in ("a\u200cb", "ab\u00ad", "\u0301a", "a-\u200d", "a\u202cb", "1\u20e3", "İ", "a_b"):
        assert not is_slug(slug), ascii(slug)
        with pytest.raises(RuleViolation):
            clean_slug(slug, 20)


def test_a_slug_is_never_cut_inside_of_a_letter() -> None:
    assert slug_of("नमस्ते" * 30, 12) == "नमस्ते" * 2
    assert slug_of("नमस्ते" * 30, 11) == "नमस्तेनमस्"
    assert cut_slug("می\u200cخواهم", 3) == "می"
    assert list(zip(numbered_slugs("नमस्ते", 6), range(3), strict=False)) == [
        ("नमस्ते", 0),
        ("नमस्-2", 1),
        ("नमस्-3", 2),
    ]


def test_a_slug_says_whether_it_lost_what_tells_titles_apart() -> None:
    for text in ("C", "Hello, world!", "नमस्ते", "a_b/c", "“Tea” – a guide"):
        assert spells_out(text), text
    for text in ("C++", "C#", "100 %", "🎉", "!!!", "a" * 121):
        assert not spells_out(text), text


def test_names_of_a_to_z_have_what_is_left() -> None:
    assert ascii_slug_of("Crème brûlée नमस्ते", 50) == "creme-brulee"
    assert ascii_slug_of("नमस्ते", 50) == ""
    assert name_for("Größe (cm)", set()) == "groe_cm"
    assert name_for("2. நாள்", set()) == "field_2"


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("नमस्ते दुनिया!", ["नमस्ते", " दुनिया", "!"]),
        ("Zusam\u00admen\u00adarbeit hier", ["Zusam\u00admen\u00adarbeit", " hier"]),
        ("مَرْحَبًا می\u200cخواهم", ["مَرْحَبًا", " می\u200cخواهم"]),
        ("cafe\u0301 👨\u200d👩\u200d👧 👍🏽", ["cafe\u0301", " 👨\u200d👩\u200d👧", " 👍🏽"]),
        ("日本語か\u3099 a_b don’t \n ", ["日", "本", "語", "か\u3099", " a_b", " don’t", " \n "]),
    ],
)
def test_differences_are_of_whole_words(text: str, tokens: list[str]) -> None:
    assert TOKEN.findall(text) == tokens


@pytest.mark.parametrize(
    ("text", "old", "result"),
    [
        ("नमस्ते नमस", "नमस", "नमस्ते X"),
        ("Zusam\u00admen zusammen Zusam", "Zusam", "Zusam\u00admen zusammen X"),
        ("cafe\u0301 cafe", "cafe", "cafe\u0301 X"),
        ("दिन दिनों दिन,", "दिन", "X दिनों X,"),
    ],
)
def test_replacing_whole_words_leaves_longer_ones(text: str, old: str, result: str) -> None:
    found = Substitution(reason="", old=old, new="X", is_whole_words=True)

    assert found.value("posts", "", "title", text) == result


def test_account_names_are_of_any_script() -> None:
    for name in ("நாகராஜன்", "नमस्ते", "Zoë.van+b", "می\u200cخواهم"):
        validate_username(name)
    assert _WORD.findall("नमस्ते दुनिया की") == ["नमस्ते", "दुनिया"]


@pytest.mark.django_db
def test_a_name_of_an_account_keeps_its_vowel_signs() -> None:
    assert username_for("n@example.com", "நாகராஜன் குமார்") == "நாகராஜன்-குமார்"


def test_markdown_of_a_marked_word_needs_no_entities() -> None:
    for text in ("**नमस्ते** दुनिया", "स्_त"):
        assert "&#" not in to_markdown(from_markdown(text)), text
        assert from_markdown(to_markdown(from_markdown(text))) == from_markdown(text)


@pytest.mark.django_db
@pytest.mark.parametrize(("title", "slug"), [*SLUGS.items()][:3])
def test_a_post_and_a_term_have_the_slug_of_their_title(title: str, slug: str) -> None:
    api = ApiClient("admin")

    made = api.send("POST", "/api/posts", {"type": "blog", "title": title})
    typed = api.send("POST", "/api/posts", {"type": "page", "title": "x", "slug": slug})
    composed = api.send("POST", "/api/posts", {"type": "page", "title": "x", "slug": "u\u0308ber"})
    term = api.send("POST", "/api/taxonomies/tags/terms", {"name": title})

    assert [one.status_code for one in (made, typed, composed, term)] == [201] * 4
    slugs = [one.json()["slug"] for one in (made, typed, composed, term)]
    assert slugs == [slug, slug, "über", slug]
