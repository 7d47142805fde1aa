"""Hostile archives are refused with a sentence, and leave nothing behind."""

from __future__ import annotations

import json
from io import BytesIO, StringIO
from pathlib import Path
from unittest.mock import patch
from uuid import UUID
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from content.models import Draft, Post, PostModule, Provenance, Revision
from media.models import Asset, StoredFile
from proofroom.archive.container import ArchiveError
from proofroom.archive.imports import Mode
from proofroom.archive.services import import_archive
from proofroom.core.errors import NotAllowed
from proofroom.core.json import JsonObject
from proofroom.core.models import Event
from proofroom.shared_content.models import SharedProposal
from proofroom.shared_content.proposals import propose_change
from proofroom.shared_content.shared_types import SharedKind
from proofroom.taxonomies.models import Term
from proofroom.taxonomies.services import changed_term_document
from proofroom.taxonomies.shared_kind import TermKind
from proofroom_apps.menus.models import Menu
from proofroom_apps.menus.services import edited_menu
from proofroom_apps.menus.shared_kind import MenuKind
from tests import make
from tests.archive import site
from tests.archive.site import with_rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def archive() -> bytes:
    site.fill()
    made = site.export()
    site.empty()
    Event.objects.all().delete()
    return made


def files() -> set[Path]:
    root = Path(settings.MEDIA_ROOT)
    return {path for path in root.rglob("*") if path.is_file()} if root.exists() else set()


def refuses(archive: bytes, sentence: str) -> None:
    before = files()
    with pytest.raises(ArchiveError, match=sentence):
        site.bring(archive)
    assert not Post.objects.exists()
    assert not Asset.objects.exists()
    assert not StoredFile.objects.exists()
    assert not Event.objects.filter(name__startswith="post.").exists()
    assert files() == before


def manifest_with(archive: bytes, **values: object) -> bytes:
    with ZipFile(BytesIO(archive)) as file:
        manifest = json.loads(file.read("manifest.json"))
    return site.rewrite(archive, manifest_json=json.dumps(manifest | values).encode())


def test_what_is_no_archive(archive):
    refuses(b"no zip at all", "cannot be read as a ZIP")
    refuses(archive[: len(archive) // 2], "cannot be read as a ZIP")
    refuses(site.rewrite(archive, manifest_json=None), "no manifest")
    refuses(site.rewrite(archive, manifest_json=b"{"), "manifest of the archive is damaged")
    refuses(manifest_with(archive, format="other"), "not a Proofroom archive")
    refuses(manifest_with(archive, version=99), "format version 99")
    wrong = (("1", '"1"'), ("abc", '"abc"'), (1.0, r"1\.0"), (True, "true"), (None, "missing"))
    for version, shown in wrong:
        refuses(
            manifest_with(archive, version=version),
            f"must be a whole number, such as 1, and is {shown}",
        )


def test_paths_doubles_and_bombs(archive):
    outside = BytesIO(archive)
    with ZipFile(outside, "a") as file:
        file.writestr("../../etc/passwd", b"x")
    refuses(outside.getvalue(), "unexpected file: '../../etc/passwd'")
    twice = BytesIO(archive)
    with ZipFile(twice, "a") as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr("posts.jsonl", b"")
    refuses(twice.getvalue(), "'posts.jsonl' twice")
    bomb = BytesIO(archive)
    with ZipFile(bomb, "a", ZIP_DEFLATED) as file:
        file.writestr("bomb.jsonl", b"0" * 20_000_000)
    refuses(bomb.getvalue(), "compression ratio")


def test_checksums_and_counts(archive):
    refuses(site.rewrite(archive, posts_jsonl=b""), "checksum of posts.jsonl")
    with ZipFile(BytesIO(archive)) as file:
        media = next(name for name in file.namelist() if name.startswith("media/"))
        other = BytesIO()
        with ZipFile(other, "w") as new:
            for name in file.namelist():
                new.writestr(name, b"changed" if name == media else file.read(name))
    refuses(other.getvalue(), "checksum of")
    unknown = BytesIO(archive)
    with ZipFile(unknown, "a") as file:
        file.writestr("spells.jsonl", b"")
    refuses(unknown.getvalue(), "do not match: spells.jsonl")


def edit_post(**values: object):
    return lambda rows: rows[0].update(values)


def edit_field(name: str, value: object):
    def change(rows):
        rows[0]["document"]["post"][name] = value

    return change


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (edit_post(id="../etc"), "is not valid: id"),
        (edit_post(extra=1), "is not valid: extra"),
        (edit_post(version="1"), "is not valid: version"),
        (edit_post(locale="xx"), "not a language|another type or language"),
        (edit_post(createdAt="yesterday"), "is not valid: createdAt"),
        (edit_post(createdAt="9999-12-31T23:59:59-12:00"), "is not valid: createdAt"),
        (edit_post(updatedAt="0001-01-01T00:00:00+14:00"), "is not valid: updatedAt"),
        (lambda rows: rows[0].update(translatedFrom=rows[0]["id"]), "translation of itself"),
        (edit_field("title", ""), "title is required"),
        (edit_field("title", "\u0000"), "NUL"),
        (edit_field("title", 5), "title: A field has a value"),
        (edit_field("slug", 5), "slug: A field has a value"),
        (edit_field("orderIndex", "x"), "orderIndex: A field has a value"),
        (edit_field("publishAt", "0000-01-01T00:00:00Z"), "publishAt: A field has a value"),
        (edit_field("publishAt", 5), "publishAt: A field has a value"),
        (edit_field("spell", 1), "no post field named 'spell'"),
        (edit_field("slug", "../admin"), "slug"),
        (edit_field("canonicalUrl", "javascript:alert(1)"), "canonicalUrl"),
        (lambda rows: rows.append(rows[0]), "line [0-9]+ .*line 1 has the same id"),
        (
            lambda rows: rows[-1].update(variationOf="9f0d7c2e-0000-4000-8000-000000000000"),
            "original",
        ),
    ],
)
def test_rows_of_posts(archive, change, sentence):
    refuses(with_rows(archive, "posts.jsonl", change), sentence)


def other_post(rows: list, **values: object) -> dict:
    """Append a copy of the first post with new ids and without dependent rows."""
    copy: dict = json.loads(json.dumps(rows[0]))
    copy |= {"id": "7f0d7c2e-0000-4000-8000-000000000000", "provenance": [], "translatedFrom": None,
             "translationGroup": "7f0d7c2e-0000-4000-8000-000000000001", **values}  # fmt: skip
    for number, module in enumerate(copy["document"]["modules"]):
        module["postModuleId"] = f"7f0d7c2e-0000-4000-8000-00000000001{number}"
        module["moduleInstanceId"] = f"7f0d7c2e-0000-4000-8000-00000000002{number}"
    rows.append(copy)
    return copy


def row_of(rows: list[dict], slug: str, **values: object) -> dict:
    return next(
        row for row in rows
        if row["document"]["post"]["slug"] == slug and all(row[name] == value for name, value in values.items())
    )  # fmt: skip


def double_module(rows: list) -> None:
    modules = row_of(rows, "brewing", variationOf=None)["document"]["modules"]
    modules.append({**modules[0], "orderIndex": 9})


def shared_module(rows: list) -> None:
    other = row_of(rows, "brewing", variationOf=None)["document"]["modules"][0]
    other_post(rows)["document"]["modules"] = [other]


def itself(rows: list) -> None:
    row = next(row for row in rows if row["variationOf"])
    row["variationOf"] = row["id"]


def of_a_variation(rows: list) -> None:
    row = next(row for row in rows if row["variationOf"])
    rows.append({**row, "id": "7f0d7c2e-0000-4000-8000-000000000000", "variationOf": row["id"]})
    rows[-1]["document"] = {**row["document"], "modules": []}


def twice_a_variation(rows: list) -> None:
    row = next(row for row in rows if row["variationOf"])
    rows.append({**row, "id": "7f0d7c2e-0000-4000-8000-000000000000"})
    rows[-1]["document"] = {**row["document"], "modules": []}


def circle(rows: list) -> None:
    company, team = row_of(rows, "company"), row_of(rows, "team")
    company["document"]["post"]["parentId"] = team["id"]


def own_parent(rows: list) -> None:
    company = row_of(rows, "company")
    company["document"]["post"]["parentId"] = company["id"]


def twice_a_term(rows: list) -> None:
    terms = row_of(rows, "brewing", variationOf=None)["document"]["taxonomyTermIds"]
    terms.append(terms[0])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda rows: rows.append(rows[0]),
            r"posts\.jsonl, line 6 \(.+\): line 1 has the same id: .+ Leave out",
        ),
        (itself, r"line 5 \(Brewing\): it is a variation of itself. “variationOf” must name"),
        (
            of_a_variation,
            r"line 6 \(Brewing\): it is a variation of line 5, which is a variation too",
        ),
        (twice_a_variation, r"line 6 \(Brewing\): line 5 has the same variationOf \+ variation"),
        (
            double_module,
            r"\(Brewing\): two of its modules have the postModuleId .+ Give each its own",
        ),
        (shared_module, r"line 6 .+: line [0-9] has the same modules.postModuleId"),
        (other_post, r"line 6 .+: line 1 has the same type \+ locale \+ (parentId \+ )?slug: "),
        (circle, r"\((Company|Team)\): this page is nested below itself"),
        (own_parent, r"\(Company\): this page is nested below itself"),
        (twice_a_term, r"\(Brewing\): it has the term .+ twice"),
        (
            lambda rows: other_post(rows, translationGroup=rows[0]["translationGroup"]),
            r"line 6 .+: line 1 has the same translationGroup \+ locale",
        ),
    ],
)
def test_posts_that_contradict_each_other_are_named_with_their_line(archive, change, sentence):
    forged = archive
    for name in ("drafts.jsonl", "redirects.jsonl", "menus.jsonl"):
        forged = with_rows(forged, name, list.clear)

    with patch("content.archive.posts.PostArchive.match") as match:
        refuses(with_rows(forged, "posts.jsonl", change), sentence)
    assert not match.called


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("menus", r"menus\.jsonl, line 2 \(Main\): line 1 has the same id"),
        ("terms", r"terms\.jsonl, line 2 \(Coffee\): line 1 has the same id"),
        ("media", r"media\.jsonl, line 2 \(cup.png\): line 1 has the same id"),
        ("redirects", r"redirects\.jsonl, line 2 \(/old\): line 1 has the same id"),
        ("forms", r"forms\.jsonl, line 2 \(.+\): line 1 has the same id"),
        ("global-modules", r"global-modules\.jsonl, line 2 \(.+\): line 1 has the same id"),
        ("url-patterns", r"url-patterns\.jsonl, line 2: line 1 has the same id"),
    ],
)
def test_rows_that_are_there_twice_are_named_with_their_line(archive, name, sentence):
    def double(rows):
        rows[:] = [rows[0], rows[0]]

    refuses(with_rows(archive, f"{name}.jsonl", double), sentence)

    def rename(rows):
        rows[:] = [rows[0], {**rows[0], "id": NOWHERE}]

    if name != "media":
        refuses(with_rows(archive, f"{name}.jsonl", rename), r"line 1 has the same (?!id)")


def test_what_the_database_refuses_names_a_line_and_no_constraint(archive):
    with (
        patch("content.archive.posts.PostArchive.check"),
        pytest.raises(ArchiveError, match=r"posts\.jsonl, on or shortly before line \d+") as said,
    ):
        site.bring(with_rows(archive, "posts.jsonl", lambda rows: rows.append(rows[0])))
    assert "constraint" not in str(said.value).lower()
    assert not Post.objects.exists()


def edit_draft(**values: object):
    return lambda rows: rows[-1].update(values)


def in_draft(part: str, name: str, value: object):
    def change(rows):
        rows[-1][part]["post"][name] = value

    return change


def mark(path: str, **values: object):
    def change(rows):
        for row in rows:
            for known in list(row["marks"]):
                row["marks"][path or known] = {**row["marks"][known], **values}

    return change


NOWHERE = "9f0d7c2e-0000-4000-8000-000000000000"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (in_draft("document", "spell", "x"), "no post field named 'spell'"),
        (in_draft("document", "customFields", {"spell": "x"}), "spell"),
        (in_draft("document", "customFields", None), "customFields"),
        (in_draft("document", "canonicalUrl", "javascript:alert(1)"), "canonicalUrl"),
        (in_draft("document", "parentId", NOWHERE), "parentId"),
        (in_draft("document", "status", "published"), "no post field named 'status'"),
        (in_draft("base", "spell", "x"), "no post field named 'spell'"),
        (in_draft("base", "type", "page"), "another type or language"),
        (edit_draft(base={}), "base|schemaVersion|This is required"),
        (edit_draft(layer="live"), "is not valid: layer"),
        (
            lambda rows: rows.append(rows[-1]),
            r"drafts\.jsonl, line 3 \(Brewing well\): line 2 has the same post \+ layer",
        ),
        (edit_draft(approved=True), "is not valid: approved"),
        (edit_draft(post=NOWHERE), "neither in the archive nor on this site"),
        (
            edit_draft(updatedBy="stranger@example.com"),
            "stranger@example.com is listed as an author",
        ),
        (mark("", person="stranger@example.com"), "stranger@example.com is listed as an author"),
        (mark("", approvedBy="admin"), "approvedBy"),
        (mark("post.slug"), "does not change the field"),
        (mark("post.spell"), "does not change the field"),
    ],
)
def test_drafts_of_posts(archive, change, sentence):
    refuses(with_rows(archive, "drafts.jsonl", change), sentence)


def test_a_forged_base_hides_nothing_that_is_staged(archive):
    """Reviews always show the differences from the layer below, even with a forged base."""

    def change(rows):
        for row in rows:
            row["base"] = row["document"]
            row["marks"] = {}

    site.bring(with_rows(archive, "drafts.jsonl", change))

    post = Post.objects.get(slug="brewing", variation_of=None)
    layers = make.layers(post)
    assert not layers.review.exists
    assert not layers.ai_review.exists
    assert layers.ai_review.document == layers.live


@pytest.fixture
def proposed() -> bytes:
    site.fill()
    term, menu = Term.objects.get(), Menu.objects.get()
    propose(TermKind(), term.pk, changed_term_document(term, name="Coffees"))
    items = [{"label": "Home", "type": "custom", "url": "/"}]
    document = edited_menu(menu, name="Top", slug=menu.slug, locale=menu.locale, items=items)
    propose(MenuKind(), menu.pk, document)
    made = site.export()
    site.empty()
    Event.objects.all().delete()
    return made


def propose(kind: SharedKind, row_id: UUID, document: JsonObject) -> None:
    propose_change(
        kind=kind,
        row_id=row_id,
        document=document,
        actor=make.actor("editor"),
        expected_version=None,
        expected_proposal=None,
    )


def proposal(of: str, /, **values: object):
    def change(rows):
        [row] = [row for row in rows if row["kind"] == of]
        for name, value in values.items():
            row[name] = {**row[name], **value} if isinstance(value, dict) else value

    return change


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (proposal("term", document={"slug": "../x"}), "slug"),
        (proposal("term", document={"parentId": NOWHERE}), "parentId"),
        (
            proposal(
                "menu",
                document={"items": [{"label": "x", "type": "custom", "url": "javascript:x"}]},
            ),
            "items.0.url",
        ),
        (proposal("menu", document={"items": [{"type": "post"}]}), "postId"),
        (proposal("menu", document={"items": [3]}), "items.0"),
        (proposal("menu", kind="spell"), "no kind of shared content 'spell'"),
        (proposal("menu", kind="term"), "not on this site"),
        (proposal("menu", state="approved"), "is not valid: state"),
        (proposal("menu", decidedBy="admin@example.com"), "is not valid: decidedBy"),
        (proposal("menu", by="stranger@example.com"), "is listed as an author"),
        (proposal("menu", writers=["stranger@example.com"]), "is listed as an author"),
        (proposal("menu", base={"name": "Forged"}), "made from another version"),
        (proposal("term", base={"name": "Forged"}), "made from another version"),
        (
            proposal("menu", base={"items": [{"label": "Forged"}]}),
            "made from another version|invalid format",
        ),
    ],
)
def test_changes_that_wait_for_approval(proposed, change, sentence):
    refuses(with_rows(proposed, "proposals.jsonl", change), sentence)
    assert not SharedProposal.objects.exists()


def test_a_change_that_waits_comes_in_as_it_was(proposed):
    site.bring(proposed)

    assert site.export() == proposed
    assert SharedProposal.objects.filter(state="waiting").count() == 2
    assert Menu.objects.get().name == "Main"


def test_an_editor_claims_nothing_in_the_name_of_others(archive):
    """An archive proposed by a user counts as the user's; only site managers import authorship."""

    def claim(rows):
        for row in rows:
            row["author"] = "admin@example.com"
            for one in row["provenance"]:
                one.update(person="admin@example.com", name="admin", approvedByName="admin")

    make.user("admin")
    forged = with_rows(archive, "posts.jsonl", claim)
    admin = {"person": "admin@example.com"}
    forged = with_rows(forged, "people.jsonl", lambda rows: rows.append(admin))
    editor = make.actor("editor")

    import_archive(source=BytesIO(forged), actor=editor, mode=Mode.PROPOSE)

    assert set(Post.objects.values_list("author", flat=True)) == {editor.user.pk}
    assert not Provenance.objects.exists()
    assert set(Revision.objects.values_list("by", flat=True)) == {editor.user.pk}
    assert not Draft.objects.exists()
    assert set(Post.objects.values_list("status", flat=True)) == {"draft"}


def test_who_may_propose(archive):
    with pytest.raises(NotAllowed, match=r"posts\.create"):
        import_archive(source=BytesIO(archive), actor=make.actor("translator"), mode=Mode.PROPOSE)
    for actor in (make.agent_actor(), make.mcp_actor("admin")):
        with pytest.raises(NotAllowed):
            import_archive(source=BytesIO(archive), actor=actor, mode=Mode.PROPOSE)
    for mode in (Mode.ADD, Mode.UPDATE):
        with pytest.raises(NotAllowed, match=r"settings\.manage"):
            import_archive(source=BytesIO(archive), actor=make.actor("editor"), mode=mode)
    assert not Post.objects.exists()


def test_the_command_proposes_as_an_editor(archive, tmp_path):
    make.user("editor")
    file = tmp_path / "site.zip"
    file.write_bytes(archive)

    with pytest.raises(CommandError, match=r"settings\.manage"):
        call_command("import", "archive", str(file), "--as", "editor@example.com")
    assert not Post.objects.exists()
    call_command(
        "import", "archive", str(file), "--propose", "--as", "editor@example.com", stdout=StringIO()
    )
    assert set(Post.objects.values_list("status", flat=True)) == {"draft"}


def test_a_global_module_that_is_nowhere(archive):
    refuses(with_rows(archive, "global-modules.jsonl", list.clear), "global module 'newsletter'")


def test_a_place_never_leads_to_the_module_of_another_post():
    post = site.fill()
    archive = site.export()
    row = (
        PostModule.objects.filter(post=post, instance__scope="local")
        .select_related("instance")
        .first()
    )
    assert row is not None
    before = Post.objects.count()

    def change(rows):
        mine = next(one for one in rows if one["id"] == str(post.pk))
        other = json.loads(json.dumps(mine))
        other |= {
            "id": "7f0d7c2e-0000-4000-8000-000000000000",
            "translationGroup": "7f0d7c2e-0000-4000-8000-000000000001",
            "status": "draft", "translatedFrom": None, "variationOf": None, "provenance": [],
        }  # fmt: skip
        other["document"]["post"]["slug"] = "another"
        other["document"]["modules"] = [{
            "postModuleId": "7f0d7c2e-0000-4000-8000-000000000002",
            "moduleInstanceId": str(row.instance_id), "type": row.instance.type, "scope": "global",
            "orderIndex": 0, "locked": False, "props": {}, "overrides": {}, "globalSlug": "x",
        }]  # fmt: skip
        rows[:] = [other]

    for name in ("drafts.jsonl", "redirects.jsonl", "menus.jsonl", "proposals.jsonl"):
        archive = with_rows(archive, name, list.clear)
    archive = with_rows(archive, "posts.jsonl", change)
    with pytest.raises(ArchiveError, match="global module 'x'"):
        import_archive(source=BytesIO(archive), actor=make.actor("editor"), mode=Mode.PROPOSE)
    assert Post.objects.count() == before


def test_an_address_in_a_menu_is_checked_as_in_the_admin(archive):
    def change(rows):
        rows[0]["items"] = [{"label": "x", "type": "custom", "url": "javascript:alert(1)"}]

    refuses(with_rows(archive, "menus.jsonl", change), "items.0.url")


def test_files_go_away_again_where_the_database_fails(archive):
    with patch("proofroom.archive.services._store", side_effect=RuntimeError("gone")):
        before = files()
        with pytest.raises(RuntimeError):
            site.bring(archive)
    assert files() == before
    assert not StoredFile.objects.exists()


def test_only_who_manages_settings_may(archive):
    from proofroom.archive.services import export_archive

    for actor in (make.actor("editor"), make.agent_actor()):
        with pytest.raises(NotAllowed):
            import_archive(source=BytesIO(archive), actor=actor)
        with pytest.raises(NotAllowed):
            export_archive(target=BytesIO(), actor=actor)
    assert not Post.objects.exists()


def test_a_parent_that_is_nowhere_is_refused_in_every_row(archive):
    with ZipFile(BytesIO(archive)) as file:
        number = len(file.read("posts.jsonl").splitlines())
    assert number > 3
    for at in range(number):

        def change(rows, at=at):
            rows[at]["document"]["post"]["parentId"] = "9f0d7c2e-0000-4000-8000-000000000000"

        refuses(with_rows(archive, "posts.jsonl", change), "parentId: No post has the ID")
