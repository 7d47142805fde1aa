"""Files of other sites in imports are fetched with the address guard, once. Real sockets of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from content.models import Post
from media.models import Asset
from media.services import web_files
from tests import make
from tests.imports.command import call_import
from tests.media.pictures import picture
from tests.receiver import Receiver, Reply, Trick, reach, serving

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def other_site(settings: Any) -> Iterator[Receiver]:
    reach(settings)
    with serving() as running:
        yield running


def run(folder: Path, *words: str, **options: Any) -> str:
    out = StringIO()
    call_import("markdown", str(folder), *words, stdout=out, stderr=out, **options)
    return out.getvalue()


def test_a_picture_is_fetched_once_and_kept(other_site: Receiver, tmp_path: Path) -> None:
    make.user("admin")
    other_site.say("/old/kettle.png", Reply(302, {"Location": "/new/kettle.png"}))
    other_site.say("/new/kettle.png", Reply(body=picture("PNG", (60, 30))))
    (tmp_path / "tea.md").write_text(f"# Tea\n\n![A kettle]({other_site.url('/old/kettle.png')})\n")

    run(tmp_path, dry_run=True)
    assert other_site.requests == []
    run(tmp_path)
    run(tmp_path)

    asset = Asset.objects.get()
    assert (asset.filename, asset.alt_text) == ("kettle.png", "A kettle")
    assert len(other_site.at("/new/kettle.png")) == 1
    assert Post.objects.count() == 1


def test_what_cannot_be_fetched_is_reported_without_what_the_network_is(
    other_site: Receiver, tmp_path: Path
) -> None:
    make.user("admin")
    other_site.say("/gone.png", Reply(404))
    (tmp_path / "tea.md").write_text(
        f"# Tea\n\n![A]({other_site.url('/gone.png')})\n\n![B](http://169.254.169.254/latest.png)\n"
    )
    report = run(tmp_path)

    assert "responded with status 404" in report
    assert "is not allowed to fetch files from that address" in report
    assert "private" not in report
    assert "link-local" not in report
    assert not Asset.objects.exists()
    assert Post.objects.count() == 1


def test_nothing_is_fetched_where_that_is_not_wanted(other_site: Receiver, tmp_path: Path) -> None:
    make.user("admin")
    (tmp_path / "tea.md").write_text(f"# Tea\n\n![A]({other_site.url('/a.png')})\n")
    report = run(tmp_path, fetch=False)
    assert "was not imported" in report
    assert other_site.requests == []


def test_slow_large_foreign_and_private_answers_are_named_and_harm_no_post(
    other_site: Receiver, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    make.user("admin")
    monkeypatch.setattr(web_files, "FETCH_SECONDS", 0.5)
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"media_max_bytes": 20_000})
    other_site.say("/slow.png", Reply(trick=Trick.HANG))
    other_site.say("/large.png", Reply(body=b"x" * 40_000))
    other_site.say("/page.png", Reply(body=b"<!doctype html><script>alert(1)</script>"))
    other_site.say(
        "/inside.png", Reply(302, {"Location": "http://169.254.169.254/latest/meta-data"})
    )
    other_site.say("/round.png", Reply(302, {"Location": "/round.png"}))
    names = ("slow", "large", "page", "inside", "round")
    pictures = "\n\n".join(f"![{name}]({other_site.url(f'/{name}.png')})" for name in names)
    (tmp_path / "tea.md").write_text(f"# Tea\n\n{pictures}\n\nThe end.\n")

    report = run(tmp_path)

    for sentence in (
        "/slow.png: The other site",
        "/large.png: The file is larger than",
        "/page.png: ",
        "/inside.png: This site is not allowed to fetch files from that address.",
        "/round.png: The address redirects too often.",
    ):
        assert sentence in report
    assert not Asset.objects.exists()
    assert Post.objects.get().slug == "tea"
    assert "files: 5 failed" in report
