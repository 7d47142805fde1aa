"""Several people at one step: a quorum is counted once, and an approval waits for a return. Real threads."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone

from content.models import Post
from content.posts.publish import set_status
from proofroom.core.actor import Actor
from proofroom.core.errors import NotAllowed, RuleViolation
from proofroom.core.models import Event
from proofroom.definitions import Step
from proofroom_apps.steps.models import Absence, StepDecision, StepRound
from proofroom_apps.steps.services import advance, send_back, set_absence
from tests import make
from tests.content.at_once import at_once, while_under_way
from tests.steps.taking import HEAD, set_steps

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.services]


def by(name: str) -> Actor:
    return Actor(user=make.user("translator", name), via="api")


def test_a_quorum_opens_the_next_step_once(monkeypatch):
    set_steps(monkeypatch, Step("Legal", role="translator", quorum=2), HEAD)
    post = make.post(status="draft")
    advance(post_id=post.pk, actor=make.actor("editor"))

    results = at_once(
        *(
            partial(advance, post_id=post.pk, actor=by(name), step="Legal")
            for name in ("ada", "ben", "cy")
        )
    )

    refused = [result for result in results if isinstance(result, Exception)]
    assert [error.code for error in refused] == ["stale_step"]  # type: ignore[attr-defined]
    assert StepRound.objects.get().step == "Head"
    assert StepDecision.objects.filter(action="agreed").count() == 2
    opened = Event.objects.filter(name="post.step.opened", payload__step="Head")
    assert opened.count() == 1


def test_one_person_counts_once(monkeypatch):
    set_steps(monkeypatch, Step("Legal", role="translator", quorum=2))
    post = make.post(status="draft")
    advance(post_id=post.pk, actor=make.actor("editor"))
    ada = by("ada")

    at_once(*[partial(advance, post_id=post.pk, actor=ada) for _ in range(3)])

    assert StepDecision.objects.filter(action="agreed").count() == 1
    assert StepRound.objects.get().step == "Legal"


def test_a_person_and_their_deputy_count_once(monkeypatch):
    set_steps(monkeypatch, Step("Legal", role="translator", quorum=2), HEAD)
    post, now = make.post(status="draft"), timezone.now()
    advance(post_id=post.pk, actor=make.actor("editor"))
    ada = by("ada")
    set_absence(actor=ada, deputy="editor", begins_at=now, ends_at=now + timedelta(days=1))

    results = at_once(
        *(partial(advance, post_id=post.pk, actor=one) for one in (ada, make.actor("editor")))
    )

    assert (
        len([result for result in results if isinstance(result, RuleViolation | NotAllowed)]) == 1
    )
    assert StepDecision.objects.filter(action="agreed").count() == 1
    assert StepRound.objects.get().step == "Legal"


def test_two_people_do_not_become_each_others_deputies():
    ada, ben, now = by("ada"), by("ben"), timezone.now()
    until = now + timedelta(days=1)

    results = at_once(
        partial(set_absence, actor=ada, deputy="ben", begins_at=now, ends_at=until),
        partial(set_absence, actor=ben, deputy="ada", begins_at=now, ends_at=until),
    )

    [refused] = [result for result in results if isinstance(result, RuleViolation)]
    assert refused.details == {"deputy": ["This person is away in this time too."]}
    assert Absence.objects.count() == 1


def test_a_publication_sees_that_content_was_sent_back(monkeypatch):
    set_steps(monkeypatch, HEAD)
    editor, post = make.actor("editor"), make.post(status="draft")
    advance(post_id=post.pk, actor=editor)
    advance(post_id=post.pk, actor=editor)

    result = while_under_way(
        partial(send_back, post_id=post.pk, actor=editor, note="Not yet", step="Head"),
        partial(set_status, post_id=post.pk, status="published", actor=editor),
    )

    assert isinstance(result, RuleViolation)
    assert result.code == "steps_open"
    assert Post.objects.get(pk=post.pk).status == "draft"
