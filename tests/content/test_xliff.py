"""Texts go out as XLIFF 2 and come back into Review: translated, stale, hostile and wrong ones."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

import pytest
from defusedxml.ElementTree import fromstring
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from content.layers import approve, digest_of
from content.models import Post
from content.posts.edit import edit_post
from content.posts.variations import create_variation
from content.store import document_edits
from content.store.layer_state import open_layers
from content.store.post_repository import load
from content.store.translation_status import states_of
from content.translations.translate import create_translation
from content.translations.xliff import reader
from content.translations.xliff.exports import export_xliff
from content.translations.xliff.imports import FileReport, import_xliff
from content.translations.xliff.inline import tag
from proofroom.core.errors import NotAllowed, RuleViolation
from proofroom.core.json import Json
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db
MARKDOWN = "Grind **the** beans.\n\n[Pour](https://example.com/water) the water."


def exported(post: Post, locale: str = "de", **options: Any) -> Element:
    """Return the document of a post for a translator."""
    export = export_xliff(
        post_ids=[post.pk], locale=locale, actor=make.actor("translator"), **options
    )
    root = fromstring(export.content)
    assert isinstance(root, Element)
    return root


def units(root: Element) -> dict[str, Element]:
    return {unit.get("id", ""): unit for unit in root.iter(tag("unit"))}


def unit_of(root: Element, end: str) -> Element:
    return next(unit for id_, unit in units(root).items() if id_.endswith(end))


def translate(root: Element, words: dict[str, Any]) -> bytes:
    """Return the document with targets by the end of the text's id: a text, or one for each paragraph."""
    for end, given in words.items():
        parts = (
            {end: given}
            if isinstance(given, str)
            else {f"{end}:{number}": part for number, part in enumerate(given, 1)}
        )
        for id_, part in parts.items():
            [segment] = unit_of(root, id_).findall(tag("segment"))
            for old in segment.findall(tag("target")):
                segment.remove(old)
            segment.set("state", "translated")
            segment.append(fromstring(f'<target xmlns="{tag("x")[1:-2]}">{part}</target>'))
    return tostring(root)


def imported(content: bytes, role: str = "translator", **options: Any) -> FileReport:
    [report] = import_xliff(content=content, actor=make.actor(role), **options)
    return report


def outcomes(report: FileReport) -> dict[str, str]:
    return {".".join(unit.unit.split(".")[-2:]): unit.outcome for unit in report.units}


def edit(post: Post, **fields: Json) -> None:
    edit_post(
        post_id=post.pk,
        actor=make.actor(),
        edit=lambda document: document_edits.patch_fields(document, fields),
    )


def review_of(source: Post, locale: str = "de") -> Any:
    post = Post.objects.get(translation_group=source.translation_group, locale=locale)
    return open_layers(post).review.document


WORDS = {
    "post.title": "Filterkaffee",
    "props.content": [
        "Mahle <pc id='1'>die</pc> Bohnen.",
        "Das Wasser <pc id='2'>gießen</pc>.",
    ],
}


def test_a_post_becomes_units_with_notes_and_codes() -> None:
    post = make.post(markdown=MARKDOWN, excerpt="Short")

    root = exported(post)

    assert (root.get("srcLang"), root.get("trgLang"), root.get("version")) == ("en", "de", "2.0")
    [file] = root.findall(tag("file"))
    assert file.get("id") == f"post-{post.pk}"
    prose = make.module_id(post, "prose")
    ids = set(units(root))
    assert {"post.title", "post.excerpt"} <= ids
    assert {f"modules.{prose}.props.content:{number}" for number in (1, 2)} <= ids
    assert "post.slug" not in ids
    first, second = (unit_of(root, f"props.content:{number}") for number in (1, 2))
    assert [one.text for one in first.iter(tag("note"))] == ["Prose › Content"]
    assert [one.text for one in first.iter(tag("data"))] == ["bold", "bold"]
    assert [one.text for one in second.iter(tag("data"))] == [
        '<a href="https://example.com/water">', "</a>",
    ]  # fmt: skip
    assert {one.get("state") for one in root.iter(tag("segment"))} == {"initial"}


def test_translations_wait_in_review_of_a_new_draft() -> None:
    post = make.post(markdown=MARKDOWN)

    report = imported(translate(exported(post), WORDS))

    assert report.is_new
    assert report.count("staged") == 2
    assert report.count("failed") == 0
    made = Post.objects.get(locale="de")
    assert (made.status, made.title) == ("draft", post.title)
    review = review_of(post)
    assert review.fields["title"] == "Filterkaffee"
    prose = next(one for one in review.modules if one.type == "prose")
    first, second = prose.props["content"]["content"]
    assert [(node["text"], node.get("marks")) for node in first["content"]] == [
        ("Mahle ", None), ("die", [{"type": "bold"}]), (" Bohnen.", None),
    ]  # fmt: skip
    assert second["content"][1]["text"] == "gießen"
    assert second["content"][1]["marks"][0]["attrs"]["href"] == "https://example.com/water"
    assert load(made).fields["title"] == post.title


def test_a_second_import_changes_nothing_and_approved_texts_are_no_longer_open() -> None:
    post = make.post(markdown=MARKDOWN)
    content = translate(exported(post), WORDS)
    imported(content)

    assert set(outcomes(imported(content)).values()) == {"unchanged", "untranslated"}

    made = Post.objects.get(locale="de")
    digest = digest_of(open_layers(made).review.changes)
    approve(post_id=made.pk, actor=make.actor(), digest=digest)
    left = set(units(exported(post)))
    assert "post.title" not in left
    whole = units(exported(post, has_all=True))
    assert [one.get("state") for one in whole["post.title"].iter(tag("segment"))] == ["final"]
    assert "".join(whole["post.title"].find(f".//{tag('target')}").itertext()) == "Filterkaffee"


def test_texts_whose_source_changed_are_staged_and_reported() -> None:
    post = make.post(markdown=MARKDOWN)
    content = translate(exported(post), WORDS)
    edit(post, title="How to brew coffee")
    prose = make.module_id(post, "prose")
    edit_post(
        post_id=post.pk,
        actor=make.actor(),
        edit=lambda document: document_edits.update_module(
            document, prose, content_markdown="Only one line."
        ),
    )

    report = imported(content)

    assert outcomes(report)["post.title"] == "stale"
    assert outcomes(report)["props.content"] == "stale"
    prose_of_review = next(one for one in review_of(post).modules if one.type == "prose")
    assert len(prose_of_review.props["content"]["content"]) == 2
    made = Post.objects.get(locale="de")
    digest = digest_of(open_layers(made).review.changes)
    approve(post_id=made.pk, actor=make.actor(), digest=digest)
    stale = states_of([Post.objects.get(pk=made.pk)])[made.pk].stale_paths
    assert "post.title" in stale


def test_a_stale_text_whose_hash_a_tool_dropped_stays_stale() -> None:
    post = make.post(markdown=MARKDOWN)
    root = exported(post)
    for unit in root.iter(tag("unit")):
        unit[:] = [child for child in unit if "metadata" not in str(child.tag)]
    edit(post, title="How to brew coffee")

    report = imported(translate(root, WORDS))

    assert outcomes(report)["post.title"] == "stale"
    made = Post.objects.get(locale="de")
    digest = digest_of(open_layers(made).review.changes)
    approve(post_id=made.pk, actor=make.actor(), digest=digest)
    stale = states_of([Post.objects.get(pk=made.pk)])[made.pk].stale_paths
    assert "post.title" in stale
    assert not any("props.content" in path for path in stale)


def test_a_file_without_translations_creates_no_draft() -> None:
    post = make.post(markdown=MARKDOWN)

    report = imported(tostring(exported(post)))

    assert set(outcomes(report).values()) == {"untranslated"}
    assert (report.is_new, report.translation_id) == (False, None)
    assert not Post.objects.filter(locale="de").exists()


def test_an_export_takes_a_few_queries_for_each_post() -> None:
    posts = [make.post(f"Post {number}", markdown=MARKDOWN) for number in range(4)]
    counts = []
    for number in (1, 4):
        ids = [post.pk for post in posts[:number]]
        with CaptureQueriesContext(connection) as queries:
            export_xliff(post_ids=ids, locale="de", actor=make.actor("translator"))
        counts.append(len(queries))

    assert counts[1] - counts[0] <= 3 * 4


def test_what_cannot_be_translated_is_refused_or_skipped() -> None:
    post, other = make.post("Tea"), make.post("Coffee")
    variation = create_variation(post_id=post.pk, variation="B", actor=make.actor())
    german = create_translation(post_id=other.pk, locale="de", actor=make.actor())
    Post.objects.filter(pk=german.pk).update(translated_from=None)
    for one in (variation, other):
        with pytest.raises(RuleViolation):
            exported(one)

    actor = make.actor("translator")
    export = export_xliff(post_ids=[post.pk, other.pk], locale="de", actor=actor)

    assert export.posts == 1
    assert [line.partition(":")[0] for line in export.skipped] == ["Coffee"]
    for ids, code in (([german.pk, post.pk], "several_languages"), ([], "too_many")):
        with pytest.raises(RuleViolation) as refused:
            export_xliff(post_ids=ids, locale="de", actor=actor)
        assert refused.value.code == code


def test_a_text_of_which_another_part_changed_is_not_stale() -> None:
    post = make.post(markdown=MARKDOWN)
    root = exported(post)
    edit(post, excerpt="New")

    report = imported(translate(root, {"post.title": "Filterkaffee"}))

    assert outcomes(report)["post.title"] == "staged"


def test_wrong_units_are_reported_and_harm_no_other() -> None:
    post = make.post(markdown=MARKDOWN, excerpt="Short")
    root = exported(post)
    file = root.find(tag("file"))
    assert file is not None
    strange = SubElement(file, tag("unit"), id="post.status")
    segment = SubElement(strange, tag("segment"), id="s1")
    SubElement(segment, tag("source")).text = "draft"
    SubElement(segment, tag("target")).text = "published"

    report = imported(
        translate(
            root,
            {
                "post.excerpt": "x" * 5000,
                "props.content": ["Gut <pc id='7'>die</pc>", "b"],
                "props.title": "Hallo",
            },
        )
    )

    said = outcomes(report)
    assert said["props.content"] == said["post.status"] == said["post.excerpt"] == "failed"
    assert report.count("staged") == 1
    assert Post.objects.get(locale="de").status == "draft"


def test_left_out_links_are_named() -> None:
    post = make.post(markdown=MARKDOWN)

    report = imported(
        translate(exported(post), {"props.content": ["Mahle die Bohnen.", "Gießen."]})
    )

    [note] = [unit.message for unit in report.units if unit.message]
    assert "1, 2" in note


def test_parts_that_a_tool_split_or_dropped_are_joined_or_refused() -> None:
    post = make.post(markdown=MARKDOWN)
    root = exported(post)
    content = translate(root, WORDS)
    root = fromstring(content)
    unit = unit_of(root, "props.content:1")
    rest = SubElement(unit, tag("segment"), id="s2", state="translated")
    for name, words in (("source", ""), ("target", " Noch ein Satz.")):
        SubElement(rest, tag(name)).text = words

    imported(tostring(root))

    prose = next(one for one in review_of(post).modules if one.type == "prose")
    assert prose.props["content"]["content"][0]["content"][-1]["text"].endswith(". Noch ein Satz.")

    group = next(one for one in root.iter(tag("group")))
    group.remove(unit)
    assert outcomes(imported(tostring(root)))["props.content"] == "failed"


@pytest.mark.parametrize("state", ["initial", "translated"])
@pytest.mark.parametrize("words", ["", "  \n", "<pc id='1'></pc>"])
def test_empty_targets_are_no_translation(state: str, words: str) -> None:
    post = make.post(markdown="Grind **the** beans.", title="Coffee")
    root = fromstring(translate(exported(post), {"props.content": words, "post.title": "Kaffee"}))
    [segment] = unit_of(root, "props.content").findall(tag("segment"))
    segment.set("state", state)

    report = imported(tostring(root))

    assert outcomes(report)["props.content"] == "untranslated"
    prose = next(one for one in review_of(post).modules if one.type == "prose")
    assert prose.props["content"] == next(
        one.props["content"] for one in load(post).modules if one.type == "prose"
    )


IMAGES = "Before ![A cup](/media/cup.png) after ![A pot](/media/pot.png)."


def prose_of(document: Any) -> Any:
    return next(one.props["content"] for one in document.modules if one.type == "prose")


def images_of(document: Any) -> list[str]:
    """Return the alternative texts in the first paragraph."""
    nodes = prose_of(document)["content"][0]["content"]
    return [node["attrs"]["alt"] for node in nodes if node["type"] == "image"]


def test_alternative_texts_survive_a_second_export() -> None:
    post = make.post(markdown=IMAGES)
    words = {
        "props.content": "Vor <ph id='1'/> nach <ph id='2'/>.",
        "props.content:alt-1": "Eine Tasse",
    }
    imported(translate(exported(post), words))
    assert images_of(review_of(post)) == ["Eine Tasse", "A pot"]

    root = exported(post, has_all=True)

    targets = {
        id_.rpartition(":")[2]: unit.findtext(f".//{tag('target')}")
        for id_, unit in units(root).items()
        if ":alt-" in id_
    }
    assert targets == {"alt-1": "Eine Tasse", "alt-2": None}
    imported(translate(root, {"props.content": "Neu <ph id='1'/> nach <ph id='2'/>."}))
    assert images_of(review_of(post)) == ["Eine Tasse", "A pot"]


def test_a_translation_whose_codes_changed_places_is_not_shown() -> None:
    post = make.post(markdown="**Grind** and [pour](/water), then [drink](/coffee).")
    root = exported(post)
    for target, is_shown in (
        ("<pc id='1'>Mahle</pc>, <pc id='2'>gieße</pc>, <pc id='3'>trinke</pc>.", True),
        ("<pc id='2'>Gieße</pc> und <pc id='1'>mahle</pc>, <pc id='3'>trinke</pc>.", False),
        ("<pc id='1'>Mahle</pc>, <pc id='3'>trinke</pc>, <pc id='2'>gieße</pc>.", False),
    ):
        imported(translate(root, {"props.content": target}))

        again = unit_of(exported(post, has_all=True), "props.content")

        assert (again.find(f".//{tag('target')}") is not None) == is_shown, target


def test_an_alternative_text_alone_leaves_the_translated_text() -> None:
    post = make.post(markdown=IMAGES)
    words = {"props.content": "Vor <ph id='1'/> nach <ph id='2'/>."}
    imported(translate(exported(post), words))
    root = exported(post, has_all=True)
    [segment] = unit_of(root, "props.content").findall(tag("segment"))
    segment.remove(segment.findall(tag("target"))[0])

    report = imported(translate(root, {"props.content:alt-2": "Eine Kanne"}))

    assert outcomes(report)["props.content"] == "staged"
    found = prose_of(review_of(post))["content"][0]["content"]
    assert [node.get("text") or node["attrs"]["alt"] for node in found] == [
        "Vor ", "A cup", " nach ", "Eine Kanne", ".",
    ]  # fmt: skip


def test_an_alternative_text_of_an_image_the_translation_lacks_is_reported() -> None:
    post = make.post(markdown=IMAGES)
    imported(translate(exported(post), {"props.content": "Nur Text."}))

    root = exported(post, has_all=True)
    report = imported(translate(root, {"props.content:alt-2": "Eine Kanne"}))

    assert outcomes(report)["props.content"] == "failed"
    assert images_of(review_of(post)) == []


def test_a_dry_run_stores_nothing() -> None:
    post = make.post(markdown=MARKDOWN)

    report = imported(translate(exported(post), WORDS), is_dry_run=True)

    assert (report.is_new, report.translation_id, report.count("staged")) == (True, None, 2)
    assert not Post.objects.filter(locale="de").exists()


HEAD = '<?xml version="1.0"?>'
OPEN = (
    '<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en" trgLang="de">'
)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (f'{HEAD}<!DOCTYPE x [<!ENTITY a "b">]>{OPEN}</xliff>', "forbidden_xml"),
        (f'{HEAD}<!DOCTYPE x SYSTEM "http://127.0.0.1/x.dtd">{OPEN}</xliff>', "forbidden_xml"),
        (f'{HEAD}<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>{OPEN}</xliff>', "forbidden_xml"),
        ("no xml", "invalid"),
        ("", "invalid"),
        ("<xliff version='1.2'/>", "invalid"),
        (f"{OPEN}<file id='f1'/></xliff>", "invalid"),
        (OPEN.replace(' trgLang="de"', "") + "</xliff>", "invalid"),
        (OPEN.replace('"de"', '"xx"') + "</xliff>", "invalid"),
    ],
)  # fmt: skip
def test_hostile_and_foreign_files_are_refused(content: str, code: str) -> None:
    with pytest.raises(RuleViolation) as refused:
        import_xliff(content=content.encode(), actor=make.actor())

    assert refused.value.code == code
    assert set(refused.value.details) == {"file"}


def test_deep_files_are_refused() -> None:
    deep = f"{OPEN}{'<group>' * 20_000}{'</group>' * 20_000}</xliff>"
    with pytest.raises(RuleViolation, match="nested too deeply"):
        import_xliff(content=deep.encode(), actor=make.actor())


def test_large_files_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_BYTES", 100)
    with pytest.raises(RuleViolation, match="larger"):
        import_xliff(content=b" " * 101, actor=make.actor())
    monkeypatch.undo()
    monkeypatch.setattr(reader, "MAX_UNITS", 1)
    post = make.post()
    with pytest.raises(RuleViolation, match="too many"):
        imported(tostring(exported(post)))


def test_files_whose_elements_would_fill_the_memory_are_refused() -> None:
    content = f"{OPEN}{'<g/>' * 1_000_000}</xliff>"

    with pytest.raises(RuleViolation) as refused:
        import_xliff(content=content.encode(), actor=make.actor())

    assert refused.value.code == "too_many"


def test_a_unit_of_many_segments_is_refused() -> None:
    root = exported(make.post(title="Filter coffee"))
    unit = unit_of(root, "post.title")
    [segment] = unit.findall(tag("segment"))
    unit.extend([segment] * reader.MAX_SEGMENTS)

    with pytest.raises(RuleViolation) as refused:
        imported(tostring(root))

    assert refused.value.code == "too_many"


def test_only_people_who_translate_may() -> None:
    post = make.post()
    for actor in (make.mcp_actor("editor"), make.agent_actor()):
        with pytest.raises(NotAllowed):
            export_xliff(post_ids=[post.pk], locale="de", actor=actor)
        with pytest.raises(NotAllowed):
            import_xliff(content=b"", actor=actor)


def test_a_translator_cannot_change_an_original_through_its_file() -> None:
    post = make.post(markdown=MARKDOWN)
    german = create_translation(post_id=post.pk, locale="de", actor=make.actor())
    root = exported(post, has_all=True)
    root.set("trgLang", "en")
    root.set("srcLang", "de")
    root.find(tag("file")).set("id", f"post-{german.pk}")

    report = imported(translate(root, {"post.title": "Taken over"}))

    assert report.problem
    assert load(Post.objects.get(pk=post.pk)).fields["title"] == post.title
    assert review_of(post, "en").fields["title"] == post.title


def test_the_api_answers_the_file_and_takes_it_back() -> None:
    post = make.post(markdown=MARKDOWN)
    client = ApiClient("translator")

    answer = client.get(f"/api/posts/{post.pk}/xliff?locale=de")

    assert (answer.status_code, answer["Content-Type"]) == (200, "application/xliff+xml")
    content = translate(fromstring(answer.content), WORDS)
    taken = client.send_form("POST", "/api/xliff", {"file": content}).json()
    [said] = taken["posts"]
    assert (said["postId"], said["isNew"], said["staged"]) == (str(post.pk), True, 2)
    assert said["translationId"] == str(Post.objects.get(locale="de").pk)
    assert client.get(f"/api/posts/{post.pk}/xliff?locale=en").status_code == 422
    for fields in ({"file": "text"}, {"file": content, "also": "x"}, {}):
        assert client.send_form("POST", "/api/xliff", fields).status_code == 422
    large = client.send_form(
        "POST", "/api/xliff", {"file": content}, CONTENT_LENGTH=str(30 * 1024**2)
    )
    assert large.status_code == 413


def test_the_commands_do_the_same(tmp_path: Any, capsys: Any) -> None:
    make.user("admin")
    post = make.post(markdown=MARKDOWN)
    path = tmp_path / "texts.xlf"

    call_command("export_xliff", str(path), to="de", post=[post.slug])
    path.write_bytes(translate(fromstring(path.read_bytes()), WORDS))
    call_command("import", "xliff", str(path))

    assert review_of(post).fields["title"] == "Filterkaffee"
    assert "(new draft): 2 staged" in capsys.readouterr().out
    path.write_text("<xliff/>")
    with pytest.raises(CommandError):
        call_command("import", "xliff", str(path))
