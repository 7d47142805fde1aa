"""Folders of Markdown become drafts, once, and one bad file harms no other."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from content.models import Post
from content.posts.post_repository import load
from tests import make

pytestmark = pytest.mark.django_db
DOCUMENTS = Path(__file__).parents[3] / "shared" / "data" / "markdown"
"""Documents of real products. They are not part of the project: they lie beside the checkout."""


@pytest.fixture(autouse=True)
def admin() -> None:
    make.user("admin")


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def run(folder: Path, **options: str) -> list[str]:
    out = StringIO()
    call_command("import_markdown", str(folder), stdout=out, **options)
    return out.getvalue().splitlines()


def paths() -> list[str]:
    return sorted(Post.objects.values_list("path", flat=True))


def blocks(post: Post) -> list[str]:
    module = load(post).modules[0]
    assert module.type == "prose"
    return [str(block["type"]) for block in module.props["content"]["content"]]


@pytest.mark.skipif(
    not DOCUMENTS.is_dir(),
    reason="The documents that this test reads are not in ../shared/data here.",
)
def test_the_documents_of_two_products_become_drafts_and_a_second_run_makes_none():
    number = len(list(DOCUMENTS.rglob("*.md")))

    first = run(DOCUMENTS)

    assert number > 80
    assert first[-1] == f"{number + 2} made, 0 skipped, 0 failed."  # and the two folders
    assert Post.objects.count() == number + 2
    assert set(Post.objects.values_list("status", flat=True)) == {"draft"}
    assert Post.objects.filter(path="/monitoring-docs/bash", title="Shell Scripts").exists()
    folder = Post.objects.get(path="/monitoring-docs")
    assert Post.objects.filter(parent=folder).count() == len(
        list((DOCUMENTS / "monitoring-docs").glob("*.md"))
    )

    second = run(DOCUMENTS)

    assert second[-1] == f"0 made, {number + 2} skipped, 0 failed."
    assert Post.objects.count() == number + 2


def test_the_title_is_that_of_the_front_matter_the_first_heading_or_the_name(tmp_path):
    write(
        tmp_path,
        {
            "a.md": "---\ntitle: From the front\nslug: own-slug\ndescription: Short\norder: 3\n---\n"
            "# Heading\n\nText",
            "b.md": "# The *first* heading\n\nText",
            "c.md": "Text\n\n## Later heading\n\nMore",
            "some-plain_file.md": "Only text",
            "year.md": "---\ntitle: 2024\n---\nText",
            "rule.md": "---\n\nText below a rule",
        },
    )

    run(tmp_path)

    found = {post.slug: post for post in Post.objects.all()}
    assert {slug: post.title for slug, post in found.items()} == {
        "own-slug": "From the front",
        "b": "The first heading",
        "c": "Later heading",
        "some-plain-file": "Some plain file",
        "year": "2024",
        "rule": "Rule",
    }
    assert found["own-slug"].meta_description == "Short"
    assert found["own-slug"].order_index == 3
    assert blocks(found["own-slug"]) == ["heading", "paragraph"]
    assert blocks(found["b"]) == ["paragraph"]  # the page shows its title itself
    assert blocks(found["c"]) == ["paragraph", "heading", "paragraph"]


def test_sub_folders_become_parents_named_by_their_own_page(tmp_path):
    write(
        tmp_path,
        {
            "guide.md": "# The guide",
            "guide/setup.md": "# Setup",
            "guide/deep/one.md": "# One",
            "manual/index.md": "# The manual",
            "manual/setup.md": "# Setup again",
            "empty/notes.txt": "no document",
        },
    )

    said = run(tmp_path)

    assert paths() == [
        "/guide", "/guide/deep", "/guide/deep/one", "/guide/setup", "/manual", "/manual/setup",
    ]  # fmt: skip
    assert Post.objects.get(path="/guide/deep").title == "Deep"
    assert said[-1] == "6 made, 0 skipped, 0 failed."
    assert run(tmp_path)[-1] == "0 made, 6 skipped, 0 failed."


def test_a_flat_type_takes_the_files_of_all_folders(tmp_path):
    write(tmp_path, {"one.md": "# One", "sub/two.md": "# Two"})

    run(tmp_path, type="blog", locale="de")

    assert paths() == ["/de/blog/one", "/de/blog/two"]


def test_a_bad_file_is_named_and_the_rest_goes_on(tmp_path, capsys):
    write(
        tmp_path,
        {
            "a-bytes.md": b"\xff\xfe not text",
            "b-yaml.md": "---\ntitle: [\n---\nText",
            "c-list.md": "---\n- one\n---\nText",
            "d-long.md": f"---\ntitle: {'x' * 400}\n---\nText",
            "e-huge.md": "word " * 500_000,
            "f-good.md": "# Good\x00",
        },
    )
    out, err = StringIO(), StringIO()

    with pytest.raises(CommandError, match="5 of the files"):
        call_command("import_markdown", str(tmp_path), stdout=out, stderr=err)

    assert paths() == ["/f-good"]
    assert out.getvalue().splitlines()[-1] == "1 made, 0 skipped, 5 failed."
    wrong = err.getvalue().splitlines()
    assert [line.split(": ")[0] for line in wrong] == [
        f"failed  {name}.md" for name in ("a-bytes", "b-yaml", "c-list", "d-long", "e-huge")
    ]
    assert "not UTF-8" in wrong[0]
    assert "not valid YAML" in wrong[1]


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    write(tmp_path, {"out/secret.md": "# Secret", "in/one.md": "# One"})
    (tmp_path / "in/link.md").symlink_to(tmp_path / "out/secret.md")
    (tmp_path / "in/loop").symlink_to(tmp_path / "in")

    run(tmp_path / "in")

    assert paths() == ["/one"]


def test_what_cannot_begin_says_why(tmp_path):
    for arguments, words in (
        ({"folder": str(tmp_path / "none")}, "is no folder"),
        ({"folder": str(tmp_path), "locale": "fr"}, "not a locale of this site"),
        ({"folder": str(tmp_path), "type": "pgae"}, "no post type named 'pgae'"),
        ({"folder": str(tmp_path), "email": "no@example.com"}, "no active account"),
        ({"folder": str(tmp_path), "email": "translator@example.com"}, "posts.create"),
    ):
        make.user("translator")
        with pytest.raises(CommandError, match=words):
            call_command("import_markdown", arguments.pop("folder"), **arguments)
