"""The front cache on a real server, with a database that another process writes to."""

from __future__ import annotations

from pathlib import Path

import httpx

from tests.migrated import give_database
from tests.served import prepare, served

WRITE = """
from tests import make
from content.models import Post
post = Post.objects.filter(slug="kettle").first()
if post is None:
    post = make.post("Kettle", slug="kettle")
else:
    make.edited(post, {"title": "Teapot", "metaTitle": "Teapot"})
print(post.pk)
"""


def test_what_another_process_writes_is_seen_at_once(tmp_path: Path) -> None:
    give_database(tmp_path)
    pk = prepare(tmp_path, WRITE)
    doors = ["/blog/kettle", f"/api/public/posts/{pk}"]

    with served(tmp_path) as url, httpx.Client(base_url=url) as client:
        before = [[client.get(door) for door in doors] for _ in range(3)]
        assert prepare(tmp_path, WRITE) == pk
        after = [client.get(door) for door in doors]

    for answers in before:
        assert [answer.status_code for answer in answers] == [200, 200]
        assert [answer.text for answer in answers] == [answer.text for answer in before[0]]
        assert all(answer.headers["Content-Encoding"] in ("br", "gzip") for answer in answers)
    assert all("Teapot" in answer.text for answer in after)
