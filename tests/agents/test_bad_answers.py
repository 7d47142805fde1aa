"""Answers that do not keep to the form, recorded by class, over each provider's protocol (`recordings/README.md`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agents_app.ai_settings import update_ai_settings
from agents_app.models import RunStatus
from content.inbox.rows import findings_from_json
from content.models import QueuedChange
from tests import make
from tests.agents.asking import KEY, execute
from tests.agents.environment import set_env
from tests.agents.talking import choice_of
from tests.fake_provider import Reply, serving

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_pauses")]

RECORDINGS: dict[str, Any] = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((Path(__file__).parent / "recordings" / "bad_answers").glob("*.json"))
}
HUGE = "Filter coffee " * 21_429
GOOD = {"post": {"metaTitle": "Filter coffee by hand"}, "summary": "The search title was missing."}
CLASSES = {
    *("fences", "trailing-comma", "wrong-key", "number-as-text", "truncated"),
    *("refusal", "prose", "other-language", "huge"),
}


def with_huge_text(value: Any) -> Any:
    return json.loads(json.dumps(value).replace("@huge@", HUGE))


def test_each_class_is_recorded() -> None:
    assert set(RECORDINGS) >= CLASSES


@pytest.mark.parametrize("provider", ["openai", "anthropic", "google"])
@pytest.mark.parametrize("name", RECORDINGS)
def test_a_recorded_bad_answer(name: str, provider: str, settings: Any) -> None:
    recording = RECORDINGS[name]
    bad, good = Reply(**with_huge_text(recording["reply"])), Reply(recording.get("then", GOOD))
    update_ai_settings(actor=make.actor("admin"), text_provider=provider)
    post = make.post()
    given: dict[str, Any] = {}
    if "field" in recording:
        module = make.module_id(make.added_module(post, type="blog-list"), "blog-list")
        key = recording["field"]
        given = {
            "agent_id": "general-assistant",
            "scope": "field",
            "field_key": key,
            "post_module_id": module,
        }
    with serving(bad, good) as fake:
        address = choice_of(provider, fake).base_url
        keys = {f"ai_provider_{provider}_api_key": KEY, f"ai_provider_{provider}_base_url": address}
        set_env(settings, **keys)
        run = execute(post, **given)

    asked, said = len(fake.asked), recording.get(provider, recording.get("says", ""))
    match recording["outcome"]:
        case "taken":
            assert (run.status, run.error, asked) == (RunStatus.SUCCEEDED, "", 1)
            assert run.staged
        case "asked again":
            assert (run.status, run.error, asked) == (RunStatus.SUCCEEDED, "", 2)
            assert said in json.dumps(fake.asked[1].body, ensure_ascii=False)
            assert run.staged
        case _:
            assert (run.status, asked, run.staged) == (RunStatus.FAILED, 1, [])
            assert said in run.error
    if warning := recording.get("warning"):
        row = QueuedChange.objects.get(post=post, path=recording["path"])
        assert warning in {
            finding.kind for _line, finding in findings_from_json(row.findings).found
        }
