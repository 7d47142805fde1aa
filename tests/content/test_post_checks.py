"""Each check of posts, with contents that pass and contents that do not, in English and German."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.utils import timezone

from content.models import AccessibilityReport, CheckedAddress, Layer
from content.post_checks.claim import find_claims
from content.post_checks.context import CheckContext
from content.post_checks.reading_level import read_target
from content.store import post_repository
from content.store.content_links import url_key
from proofroom.briefs.models import Brief
from proofroom.definitions import find_post_type
from tests import make
from tests.content.checking import failures, level, read_checks, results

pytestmark = pytest.mark.django_db

HARD_EN = (
    "Notwithstanding considerable organisational heterogeneity, interdepartmental communication infrastructures "
    "necessitate comprehensive standardisation initiatives, particularly regarding internationally distributed "
    "manufacturing environments characterised by multidimensional interdependencies, unpredictable regulatory "
    "developments, disproportionately fragmented responsibilities and insufficiently documented escalation "
    "procedures, whose simultaneous international harmonisation presupposes extraordinary administrative "
    "determination and perseverance."
)
EASY_EN = (
    "Put the beans in the mill. Turn it on. Wait a bit. Pour the water on top. Let it drip for two minutes. "
    "Then take the cup and drink. It is hot, so wait. Add some milk if you like it. That is all you have to do "
    "for a good cup. Have fun with it."
)
HARD_DE = (
    "Ungeachtet der außerordentlichen Vielgestaltigkeit innerbetrieblicher Kommunikationsinfrastrukturen erfordert "
    "die Vereinheitlichung international verteilter Fertigungsumgebungen umfangreiche Standardisierungsinitiativen, "
    "insbesondere hinsichtlich unvorhersehbarer regulatorischer Entwicklungen, unverhältnismäßig zersplitterter "
    "Verantwortlichkeiten, unzureichend dokumentierter Eskalationsverfahren sowie mehrdimensionaler "
    "Wechselwirkungen, deren gleichzeitige Harmonisierung außergewöhnliche verwaltungstechnische Entschlossenheit "
    "voraussetzt und organisationsübergreifende Zusammenarbeitsbereitschaft unabdingbar erscheinen lässt."
)
EASY_DE = (
    "Gib die Bohnen in die Mühle. Mach sie an. Warte kurz. Gieß das Wasser darauf. Lass es zwei Minuten ziehen. "
    "Nimm dann die Tasse und trink. Es ist heiß, also warte. Gib Milch dazu, wenn du magst. Mehr musst du nicht tun, "
    "um guten Kaffee zu haben. Viel Spaß damit."
)


def test_a_post_answers_one_ok_for_each_check_that_passes_and_one_row_for_each_failure():
    post = make.post(metaTitle="Filter coffee", metaDescription="x" * 161)

    found = {row["check"]: row for row in read_checks(post)}

    assert found["seoTitle"] == {
        "check": "seoTitle",
        "level": "ok",
        "message": "The meta title has a good length.",
    }
    assert found["seoDescription"] == {
        "check": "seoDescription",
        "level": "warn",
        "message": "The meta description has 161 characters. Search engines show about 160.",
        "path": "post.metaDescription",
    }
    assert "accessibility" not in found
    assert set(found) == {
        "seoTitle", "seoDescription", "altText", "deadLink", "headings", "readingLevel", "staleTranslation",
        "missingTranslation", "orphan", "brief", "claim",
    }  # fmt: skip


def test_checks_judge_a_layer_on_request():
    post = make.post(metaTitle="Filter coffee")
    make.staged(post, {"metaTitle": "x" * 61})
    make.staged(post, {"metaTitle": "y" * 62}, layer=Layer.REVIEW)

    def title(query: str) -> str:
        rows = [row for row in read_checks(post, query=query) if row["check"] == "seoTitle"]
        return str(rows[0]["message"])

    assert title("") == title("?layer=source") == "The meta title has a good length."
    assert "62 characters" in title("?layer=review")
    assert "61 characters" in title("?layer=ai-review")


@pytest.mark.parametrize(
    ("title", "expected"),
    [("", "There is no meta title."), ("x" * 60, ""), ("x" * 61, "61 characters")],
)
def test_seo_title_must_exist_and_have_at_most_60_characters(title, expected):
    found = failures(make.post(metaTitle=title), "seoTitle")

    assert (expected in found[0]) if expected else found == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [(None, "There is no meta description."), ("x" * 160, ""), ("x" * 161, "161 characters")],
)
def test_seo_description_must_exist_and_have_at_most_160_characters(text, expected):
    found = failures(make.post(metaDescription=text), "seoDescription")

    assert (expected in found[0]) if expected else found == []


def test_an_image_needs_an_alt_text_in_a_field_and_in_rich_text():
    described = make.image("cup.png", alt_text="A cup")
    bare = make.image("beans.png")
    good = make.post(
        "Described", featuredMediaId=str(described.pk), markdown=f"![A mill]({bare.file.url})"
    )
    bad = make.post("Bare", featuredMediaId=str(bare.pk), markdown=f"![]({bare.file.url})")

    assert failures(good, "altText") == []
    message = "The image beans.png has no alt text."
    assert [(one.message, one.path) for one in results(bad, "altText")] == [
        (message, "post.featuredMediaId"),
        (message, f"modules.{make.module_id(bad, 'prose')}.props.content"),
    ]


def test_a_decorative_image_needs_no_alt_text():
    picture = make.image("line.png")
    picture.is_decorative = True
    picture.save()
    post = make.post(featuredMediaId=str(picture.pk), markdown=f"![]({picture.file.url})")

    assert failures(post, "altText") == []


def test_a_link_within_the_site_must_lead_to_a_published_post():
    target = make.post("Target", slug="target")
    make.post("Draft", slug="draft", status="draft")
    make.redirect("/old", "/blog/target")
    base = settings.SITE_URL
    good = make.post(
        "Good",
        markdown=f"[a]({target.path}#part) [b]({base}/blog/target?x=1) [c](/blog) [d](/old) [e](#here) "
        "[f](mailto:a@example.com) [g](/search) [h](/) [i](/blog/target.md) [j](/blog/good)",
    )
    bad = make.post("Bad", markdown=f"[a](/blog/draft) [b]({base}/nowhere)")

    assert failures(good, "deadLink") == []
    assert failures(bad, "deadLink") == [
        "The site has no published page at /blog/draft.",
        f"The site has no published page at {base}/nowhere.",
    ]


def test_a_link_to_an_address_of_an_app_works(settings):
    settings.ROOT_URLCONF = "tests.content.shop_urls"
    post = make.post(markdown="[a](/shop) [b](/shop/7/) [c](/shop/x)")

    assert failures(post, "deadLink") == ["The site has no published page at /shop/x."]


def test_a_link_to_another_site_is_dead_when_the_task_found_nothing_there():
    now = timezone.now()
    for url, status, count in (
        ("https://a.example/", 404, 1),
        ("https://b.example/", 503, 2),
        ("https://c.example/", None, 3),
        ("https://d.example/", 200, 0),
    ):
        CheckedAddress.objects.create(
            key=url_key(url), url=url, host="x", status=status, failures=count, due_at=now
        )
    links = " ".join(f"[{name}](https://{name}.example/#part)" for name in "abcde")

    assert failures(make.post(markdown=links), "deadLink") == [
        "https://a.example/#part answers with status 404.",
        "https://c.example/#part cannot be reached.",
    ]


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("## One\n\n### Two\n\n## Three\n\nText", []),
        ("### Deep", ["“Deep” has level 3, right after level 1."]),
        ("## One\n\n#### Deep", ["“Deep” has level 4, right after level 2."]),
        ("# Again", ["“Again” is a second heading of level 1. The title of the page is one."]),
    ],
)
def test_headings_form_an_outline(markdown, expected):
    assert failures(make.post(markdown=markdown), "headings") == expected


def test_an_empty_heading_fails():
    post = make.post()
    empty = {"type": "doc", "content": [{"type": "heading", "attrs": {"level": 2}}]}
    make.changed_module(post, make.module_id(post, "prose"), props={"content": empty})

    assert failures(post, "headings") == ["A heading of level 2 is empty."]


@pytest.mark.parametrize(
    ("locale", "text", "expected"),
    [
        ("en", EASY_EN, "ok"), ("en", HARD_EN, "warn"), ("de", EASY_DE, "ok"), ("de", HARD_DE, "warn"),
    ],
)  # fmt: skip
def test_the_reading_level_is_judged_by_the_formula_of_the_language(locale, text, expected):
    assert level(make.post(locale=locale, markdown=text), "readingLevel") == expected


def test_the_target_of_the_reading_level_comes_from_the_brief_then_from_the_type(monkeypatch):
    post = make.post(markdown=EASY_EN.replace("mill", "manufacturing environment"))
    assert level(post, "readingLevel") == "ok"

    monkeypatch.setattr(find_post_type("blog"), "reading_ease", 130)
    assert level(post, "readingLevel") == "warn"

    Brief.objects.create(name="Site", reading_level="Plain language, B2")
    assert level(post, "readingLevel") == "ok"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("B1", 60),
        ("CEFR A2 or easier", 80),
        ("Flesch 65", 65),
        ("A reading ease of at least 100", 100),
        ("55", 55),
        ("plain words", None),
        ("20 % less", None),
        ("At most 15 words a sentence", None),
        ("B1: understandable at the age of 12.", 60),
        ("Understandable at the age of 12", 80),
        ("for 14-year-olds", 60),
        ("ab 13 Jahren", 70),
        ("Zehnjährige", None),
        ("adults, aged 30 or more", 30),
    ],
)
def test_a_brief_names_its_reading_level_as_a_level_an_age_or_a_number(text, expected):
    assert read_target(text) == expected


def test_a_translation_is_stale_when_its_source_has_changed():
    source = make.post(excerpt="First")
    translation = make.post(
        "Filterkaffee",
        locale="de",
        translation_of=source,
        excerpt="Erstens",
        markdown="Bohnen mahlen.",
    )
    before = failures(translation, "staleTranslation")
    make.edited(source, {"excerpt": "Second"})

    assert "The source of Excerpt has changed." not in before
    assert "The source of Excerpt has changed." in failures(translation, "staleTranslation")
    assert results(source, "staleTranslation")[0].message == "The post is not a translation."


def test_a_post_without_a_translation_names_the_languages():
    post = make.post()
    assert failures(post, "missingTranslation") == ["There is no translation into German."]

    make.post("Filterkaffee", locale="de", translation_of=post, status="draft")
    assert failures(post, "missingTranslation") == []


def test_a_post_that_nothing_links_to_is_an_orphan():
    post = make.post("Alone", slug="alone")
    assert failures(post, "orphan") == ["No page and no menu links to this post."]

    linking = make.post("Linking", markdown="[there](/blog/alone)", status="draft")
    assert failures(post, "orphan") != []  # visitors cannot follow the link of a draft

    make.actor("editor")
    from content.posts.publish import set_status

    set_status(post_id=linking.pk, status="published", actor=make.actor("editor"))
    assert failures(post, "orphan") == []

    make.changed_module(linking, make.module_id(linking, "prose"), content_markdown="No link")
    assert failures(post, "orphan") != []


def test_a_link_to_itself_does_not_count():
    post = make.post("Self", slug="self", markdown="[up](/blog/self)")

    assert failures(post, "orphan") != []


def test_a_menu_and_a_global_module_lead_to_a_post():
    from proofroom_apps.menus.models import Menu

    by_id, by_path, shared = make.post("One"), make.post("Two"), make.post("Three")
    Menu.objects.create(
        slug="main",
        locale="en",
        name="Main",
        items=[
            {"id": "1", "type": "post", "label": "", "url": "", "postId": str(by_id.pk), "children": [
                {"id": "2", "type": "custom", "label": "Two", "url": by_path.path, "children": []},
            ]},
        ],
    )  # fmt: skip
    module = make.global_module(ctaLabel="Go", ctaUrl=shared.path)

    from content.store.content_links import rebuild_links

    rebuild_links()
    assert failures(by_id, "orphan") == failures(by_path, "orphan") == []
    assert failures(shared, "orphan") != []
    make.placed(by_id, module)
    assert failures(shared, "orphan") == []


def test_the_terms_names_and_phrases_of_the_brief():
    Brief.objects.create(
        name="Site",
        terms=[
            {"term": "user", "preferred": "reader", "forbidden": True},
            {"term": "cheap", "forbidden": True},
        ],
        never=["best in class"],
        protected_names=["Proofroom"],
    )
    good = make.post(
        "Readers love it", markdown="The reader of Proofroom. `user` at https://user.example"
    )
    bad = make.post("For users", markdown="It is cheap and best in class, says proofroom.")

    assert failures(good, "brief") == []
    assert set(failures(bad, "brief")) == {
        "Write “reader” instead of “users”.",
        "The brief forbids “cheap”.",
        "The brief never says “best in class”.",
        "The name Proofroom is written “proofroom”.",
    }


def test_a_german_term_is_found_with_its_endings():
    Brief.objects.create(
        name="Deutsch",
        locale="de",
        terms=[{"term": "Nutzer", "preferred": "Leser", "forbidden": True}],
    )
    german = make.post("Für Leser", locale="de", markdown="Die Wünsche des Nutzers.")
    english = make.post("Nutzer", markdown="Nutzer")

    assert failures(german, "brief") == ["Write “Leser” instead of “Nutzers”."]
    assert failures(english, "brief") == []


@pytest.mark.parametrize(
    ("locale", "text", "expected"),
    [
        ("en", "Studies show that it works.", True),
        ("en", "42 % of people drink it.", True),
        ("en", "Nine of them, 9 out of 10, agree.", True),
        ("en", "Grind 20 g of beans for 3 cups.", False),
        ("en", "42 % of people drink it ([report](https://report.example/)).", False),
        ("en", "42 % of people drink it, according to the coffee board.", False),
        ("de", "Studien belegen die Wirkung.", True),
        ("de", "42 Prozent der Menschen trinken ihn.", True),
        ("de", "Mahle 20 g Bohnen für 3 Tassen.", False),
        ("de", "42 % der Menschen trinken ihn (Quelle: Kaffeeverband).", False),
    ],
)
def test_claims_need_a_source_in_the_same_module(locale, text, expected):
    assert (failures(make.post(locale=locale, markdown=text), "claim") != []) is expected


def test_claims_are_named_as_written():
    assert list(find_claims("Studies show 42 % more.", "en")) == ["42 %", "studies show"]


def test_accessibility_answers_the_stored_result_of_exactly_this_content():
    post = make.post()
    [subject] = CheckContext([(post, post_repository.load(post))]).subjects
    report = AccessibilityReport.objects.create(
        post=post,
        digest=subject.digest,
        engine="axe",
        violations=[
            {
                "rule": "image-alt",
                "help": "Images must have alternate text",
                "helpUrl": "https://dequeuniversity.com/rules/axe/4.12/image-alt",
                "count": 2,
            }
        ],
    )
    assert failures(post, "accessibility") == ["Images must have alternate text (2 places)"]

    report.violations = []
    report.save()
    assert level(post, "accessibility") == "ok"

    make.edited(post, {"title": "Another"})
    assert results(post, "accessibility") == []


def test_the_number_of_queries_does_not_depend_on_the_contents(django_assert_max_num_queries):
    post = make.post(
        markdown="[a](/nowhere) [b](https://b.example) ![x](/media/none.png)\n\n" * 30,
        featuredMediaId=str(make.image().pk),
    )
    make.placed(post, make.global_module())
    document = post_repository.load(post)

    from content.post_checks.results import check_post

    with django_assert_max_num_queries(20):
        check_post(post, document)
