"""Several translations proposed at once: independent, reported one by one, and resumable."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from content.models import Post
from content.translations.translate import create_translation
from proofroom.core.progress import CallCancelled, follow_progress
from proofroom.core.tools import get_tool
from tests import make
from tests.mcp.calling import done, refused

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("environment")]
MANY = "create_translations_ai_review_bulk"


@pytest.fixture
def languages(environment: Any) -> None:
    environment(locales=("en", "de", "fr", "it"))


def test_several_languages_each_end_in_their_own_way(languages: None) -> None:
    post = make.post()
    make.post("Taken", locale="fr", slug=post.slug)
    german = create_translation(post_id=post.pk, locale="de", actor=make.actor())

    answer = done(MANY, postId=str(post.pk), locales=["de", "it", "xx", "fr", "it", "en"])

    italian = Post.objects.get(translation_group=post.translation_group, locale="it")
    rows = {row["locale"]: row for row in answer["items"]}
    assert [row["locale"] for row in answer["items"]] == ["de", "it", "xx", "fr", "en"]
    assert rows["it"] == {"locale": "it", "ok": True, "translationId": str(italian.pk)}
    assert [rows[name]["ok"] for name in ("de", "xx", "fr", "en")] == [False] * 4
    assert rows["de"]["translationId"] == str(german.pk)
    assert "already" in rows["de"]["error"]
    assert "'xx' is not a language" in rows["xx"]["error"]
    assert post.slug in rows["fr"]["error"]
    assert "translationId" not in rows["xx"]
    assert "translationId" not in rows["fr"]
    assert Post.objects.filter(translation_group=post.translation_group).count() == 3


@pytest.mark.parametrize("locales", [[], "de", [None], [["de"]], ["de"] * 51, ["x" * 13]])
def test_a_wrong_list_of_languages_is_refused(locales: Any) -> None:
    code, text = refused(MANY, postId=str(make.post().pk), locales=locales)

    assert (code, "`locales" in text) == ("invalid_arguments", True)


@dataclass
class Impatient:
    """Cancels before the second language."""

    told: list[tuple[float, float | None, str]] = field(default_factory=list)

    def report(self, done: float, total: float | None, message: str) -> None:
        self.told.append((done, total, message))

    def check(self) -> None:
        if self.told:
            raise CallCancelled


def test_a_call_that_broke_off_goes_on_where_it_stopped(languages: None) -> None:
    post, follower = make.post(), Impatient()
    tool = get_tool(MANY)
    assert tool is not None
    arguments = tool.arguments.model_validate(
        {"postId": str(post.pk), "locales": ["de", "fr", "it"]}
    )
    with pytest.raises(CallCancelled), follow_progress(follower):
        tool.handler(make.mcp_actor(), arguments)
    others = Post.objects.filter(translated_from=post)
    assert [*others.values_list("locale", flat=True)] == ["de"]
    assert follower.told == [(1, 3, "de")]

    answer = done(MANY, postId=str(post.pk), locales=["de", "fr", "it"])

    assert [(row["ok"], row.get("existed", False)) for row in answer["items"]] == [
        (True, True), (True, False), (True, False),
    ]  # fmt: skip
    assert {row["translationId"] for row in answer["items"]} == {
        str(id_) for id_ in others.values_list("pk", flat=True)
    }
    assert others.count() == 3
    again = done(MANY, postId=str(post.pk), locales=["de", "fr", "it"])
    assert [row["existed"] for row in again["items"]] == [True, True, True]
    assert others.count() == 3
