"""Sources whose items lack ids: fallback identifiers, and the failure of an import without results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import CommandError

from content.models import Post
from tests.imports.importing import run

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("admin")]

HEAD = '<rss xmlns:wp="http://wordpress.org/export/1.2/"><channel><link>http://old.example</link>'
ITEM = (
    "<item><title>{name}</title>{identity}<wp:post_type>post</wp:post_type>"
    "<wp:status>publish</wp:status><wp:post_name>{name}</wp:post_name></item>"
)


def wxr(folder: Path, *identities: str) -> Path:
    path = folder / "export.xml"
    items = (ITEM.format(name=f"n{at}", identity=one) for at, one in enumerate(identities))
    path.write_text(f"{HEAD}{''.join(items)}</channel></rss>")
    return path


def test_items_of_wordpress_are_known_by_their_guid_or_link(tmp_path: Path) -> None:
    path = wxr(
        tmp_path,
        '<guid isPermaLink="false">http://old.example/?p=7</guid>',
        "<link>http://old.example/second/</link>",
        "<wp:post_id>0</wp:post_id><guid>urn:third</guid>",
    )

    said = run("wordpress", path)
    again = run("wordpress", path)

    assert "posts: 3 created" in said
    assert "posts: 3 unchanged" in again
    assert set(Post.objects.values_list("slug", flat=True)) == {"n0", "n1", "n2"}


def test_an_item_that_nothing_identifies_harms_no_other(tmp_path: Path) -> None:
    said = run("wordpress", wxr(tmp_path, "", "<guid>urn:one</guid>"))

    assert "n0: The item has no ID and no address; skipped." in said
    assert [post.slug for post in Post.objects.all()] == ["n1"]


@pytest.mark.parametrize(
    ("source", "name", "content"),
    [
        ("wordpress", "a.xml", f"{HEAD}{ITEM.format(name='a', identity='')}</channel></rss>"),
        ("json", "a.json", json.dumps([{"id": 1, "title": "", "body": "x"}, 5])),
        ("csv", "a.csv", "id,title,body\n1,,x\n2,,y\n"),
        ("directus", "a.json", json.dumps([{"id": 1, "title": None, "body": "x"}])),
        ("strapi", "a.json", json.dumps({"data": [{"id": 1, "title": "", "body": "x"}]})),
        (
            "contentful",
            "a.json",
            json.dumps(
                {
                    "locales": [{"code": "en", "default": True}],
                    "contentTypes": [
                        {"sys": {"id": "t"}, "fields": [{"id": "body", "type": "Text"}]}
                    ],
                    "entries": [
                        {
                            "sys": {"contentType": {"sys": {"id": "t"}}},
                            "fields": {"body": {"en": "x"}},
                        }
                    ],
                }
            ),
        ),
        ("markdown", "a.md", "---\ntitle: [\n---\nx\n"),
    ],
)
def test_a_command_that_imports_no_post_fails(
    tmp_path: Path, source: str, name: str, content: str
) -> None:
    path = tmp_path / name
    path.write_text(content)

    with pytest.raises(CommandError):
        run(source, tmp_path if source == "markdown" else path)

    assert not Post.objects.exists()


def test_an_entry_of_contentful_without_an_id_is_named(tmp_path: Path) -> None:
    of = {"contentType": {"sys": {"id": "t"}}}
    space = {
        "locales": [{"code": "en", "default": True}],
        "contentTypes": [
            {
                "sys": {"id": "t"},
                "displayField": "title",
                "fields": [{"id": "title", "type": "Symbol"}, {"id": "body", "type": "Text"}],
            }
        ],
        "entries": [
            {"sys": of, "fields": {"title": {"en": "A"}, "body": {"en": "x"}}},
            {"sys": of, "fields": {"title": {"en": "B"}, "body": {"en": "x"}}},
            {"sys": {**of, "id": "c"}, "fields": {"title": {"en": "C"}, "body": {"en": "x"}}},
        ],
    }
    path = tmp_path / "space.json"
    path.write_text(json.dumps(space))

    said = run("contentful", path)

    assert "Entry 1: The item has no ID; skipped." in said
    assert "Entry 2: The item has no ID; skipped." in said
    assert [post.title for post in Post.objects.all()] == ["C"]
