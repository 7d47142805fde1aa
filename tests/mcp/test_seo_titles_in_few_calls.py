"""Ten SEO titles found, written and submitted, as an AI client does it: in few calls and few tokens."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from tests import make
from tests.mcp.calling import done
from tests.mcp.test_schemas import CHARACTERS_PER_TOKEN

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("environment")]
MAX_CALLS: Final = 4
MAX_TOKENS: Final = 5_000


class Client:
    """Counts the calls and their characters, as a model reads and writes them."""

    def __init__(self) -> None:
        self.calls = self.characters = 0

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        answer = done(tool, **arguments)
        self.calls += 1
        self.characters += len(json.dumps([tool, arguments])) + len(json.dumps(answer))
        return answer


def test_ten_seo_titles() -> None:
    words = "How to choose a coffee grinder that suits the way you brew at home, and why it matters"
    posts = [
        make.post(f"Post number {number}", slug=f"post-{number}", metaTitle=f"{number}: {words}")
        for number in range(10)
    ]
    client = Client()

    rows = client.call("audit_posts", checks=["seoTitle"], type="blog", limit=10)["items"]
    changes = [
        {
            "post": row["post"],
            "patch": {"metaTitle": row["value"][:55]},
            "note": "The title was cut off in search results.",
        }
        for row in rows
    ]
    results = client.call("save_posts_ai_review", changes=changes, submit=True)["results"]

    assert {row["post"] for row in rows} == {str(post.pk) for post in posts}
    assert [result["submitted"] for result in results] == [["post.metaTitle"]] * 10
    assert not any("warnings" in result for result in results)
    assert client.calls <= MAX_CALLS
    assert client.characters / CHARACTERS_PER_TOKEN <= MAX_TOKENS
    for post in posts:
        review = make.layers(post).review
        assert review.changes.paths == ("post.metaTitle",)
        assert review.marks["post.metaTitle"].reason == "The title was cut off in search results."
