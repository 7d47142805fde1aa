"""A site where people work together: comments, editorial steps, a release and dates."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.utils import timezone

from content.models import Layer, Post
from proofroom.accounts.models import User
from proofroom.definitions import Step
from tests import make
from tests.api_client import ApiClient
from tests.browser.pictures.declared import Ids
from tests.browser.pictures.repeatable import Clock
from tests.comments.talk import say
from tests.releases import scenes as releases
from tests.steps.taking import move

STEPS: Final = (
    Step("Legal", role="translator", due=timedelta(days=3)),
    Step("Editor in chief", role="admin", due=timedelta(days=2)),
)


def team(clock: Clock) -> Ids:
    """Fill a site with a week of a team's work. Its pages have `STEPS`."""
    people = {role: make.user(role) for role in ("admin", "editor", "translator")}
    post = make.post(
        "How to brew filter coffee",
        type="page",
        status="draft",
        excerpt="Use 60 g of coffee for a litre of water, and take your time.",
    )
    make.post("What a grinder does")
    clock.forward(days=1)
    _discussed(post, people, clock)
    move(post)
    move(post, role="translator", note="Fine, with the quantity from the box.")
    clock.forward(hours=2)
    release = _release(clock)
    _dated()
    return {"coffee": str(post.pk), "release": release.rpartition("/")[2]}


def _discussed(post: Post, people: dict[str, User], clock: Clock) -> None:
    number = say(
        post,
        "The box says 65 g. Which is right?",
        path="post.excerpt",
        passage={"quote": "60 g of coffee"},
        assignee=people["translator"].username,
        dueAt=_in_days(4),
    )
    clock.forward(minutes=20)
    answer = "65 g, since the new filter. @editor please change it."
    say(post, answer, by="translator", parentId=number["id"])
    clock.forward(minutes=20)
    say(post, "Can we have a photo from the shop?", by="admin")
    done = say(post, "Shorter, please.", path="post.title")
    ApiClient("editor").write("PATCH", f"/api/comments/{done['id']}", {"status": "resolved"})


def _release(clock: Clock) -> str:
    """Create a release of changes, a draft and a menu, one of them with a conflict."""
    release = releases.create("Spring range", at=_in_days(9))
    news = releases.changed_post("The spring range is here", slug="news")
    releases.add_changes(release, news)
    releases.add(release, "post", make.post("Kettles for spring", status="draft").pk)
    menu = releases.menu()
    releases.proposed(menu, "Main, with the spring range")
    releases.add(release, "menu", menu.pk)
    late = releases.changed_post("Our opening hours in spring", slug="hours")
    releases.add_changes(release, late)
    clock.forward(minutes=5)
    make.staged(late, {"title": "Opening hours until May"}, layer=Layer.REVIEW)
    return release


def _dated() -> None:
    for title, days in (("Cold brew in ten minutes", 2), ("Espresso at home", 5), ("Moka pots", 5)):
        make.post(title, status="draft", publishAt=_in_days(days))
    make.post("Winter menu", unpublishAt=_in_days(12))


def _in_days(days: int) -> str:
    at = (timezone.now() + timedelta(days=days)).replace(hour=9, minute=0, second=0, microsecond=0)
    return at.isoformat()
