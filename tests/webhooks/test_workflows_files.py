"""Workflows as files: valid content, and the handling of broken files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.core.management import load_command_class

from cms_project.folders import BASE_DIR
from proofroom.webhooks import workflow_definitions as definitions
from proofroom.webhooks.workflow_definitions import all_workflows, get_workflow
from tests.definition_checks import definition_errors
from tests.webhooks.workflows import write

GOOD: dict[str, Any] = {
    "id": "good",
    "name": "Good",
    "description": "Everything that may be said.",
    "enabled": False,
    "triggers": ["post.published", "form.submit"],
    "order": -3,
    "filters": {
        "types": ["blog"],
        "locales": ["en"],
        "formSlugs": ["contact"],
        "conditions": [{"field": "data.status", "operator": "equals", "value": "published"}],
    },
    "url": "https://tools.example.com/hook",
    "headers": {"X-Team": "editors", "Authorization": "Bearer {{secret.n8n}}"},
    "payload": {"title": "{{ data.title }}", "by": ["{{actor.name}}", 1, None]},
}


def _with(**fields: Any) -> str:
    return json.dumps(GOOD | fields)


def _filters(**fields: Any) -> str:
    return _with(filters=GOOD["filters"] | fields)


@pytest.mark.parametrize("suffix", ["yaml", "yml", "json"])
def test_every_field_is_read(workflows_dir: Path, env: Any, suffix: str) -> None:
    env(workflow_secrets={"n8n": "canary-credential"})
    # JSON is YAML too.
    (workflows_dir / f"good.{suffix}").write_text(_with())

    assert definition_errors() == []
    workflow = get_workflow("good")
    assert workflow is not None
    assert (workflow.name, workflow.enabled, workflow.order) == ("Good", False, -3)
    assert workflow.triggers == ("post.published", "form.submit")
    assert (workflow.filters.types, workflow.filters.locales) == (("blog",), ("en",))
    assert workflow.filters.form_slugs == ("contact",)
    assert [item.operator for item in workflow.filters.conditions] == ["equals"]
    assert workflow.url == "https://tools.example.com/hook"
    assert workflow.headers["X-Team"] == "editors"
    assert workflow.payload == GOOD["payload"]
    assert "tools.example.com" not in repr(workflow)


@pytest.mark.parametrize(
    ("name", "text", "field", "reason"),
    [
        ("typo.json", _with(id="typo", trigers=[]), "trigers", "not permitted"),
        ("snake.json", _filters(form_slugs=["a"]).replace('"good"', '"snake"'),
         "filters.form_slugs", "not permitted"),
        ("event.json", _with(id="event", triggers=["post.publishd"]), "triggers", "known: form.submit, form."),
        ("events.json", _with(id="events", triggers=["webhook.created"]), "triggers", "is no event"),
        ("none.json", _with(id="none", triggers=[]), "triggers", "names no event; known: "),
        ("scheme.json", _with(id="scheme", url="ftp://tools.example.com/"), "url", "http"),
        ("person.json", _with(id="person", url="https://me:canary@tools.example.com/"), "url", ""),
        ("near.json", _with(id="near", url="http://127.0.0.1/"), "url", ""),
        ("type.json", _filters(types=["blgo"]).replace('"good"', '"type"'), "filters.types", "Available: "),
        ("locale.json", _filters(locales=["xx"]).replace('"good"', '"locale"'), "filters.locales", ": en, de"),
        ("field.json", _filters(conditions=[{"field": "post", "operator": "matches", "value": "("}]).replace(
            '"good"', '"field"'), "filters.conditions.0", "regular expression"),
        ("root.json", _filters(conditions=[{"field": "env.KEY", "operator": "exists"}]).replace(
            '"good"', '"root"'), "filters.conditions.0", "must begin with one of"),
        ("host.json", _with(id="host", headers={"Host": "x"}), "headers", "set automatically"),
        ("lines.json", _with(id="lines", headers={"X-A": "a\r\nX-B: b"}), "headers", "without line breaks"),
        ("bearer.json", _with(id="bearer", headers={"authorization": "Bearer canary"}), "headers",
         "WORKFLOW_SECRETS"),
        ("secret.json", _with(id="secret", headers={"X-Key": "{{secret.other}}"}), "headers",
         "no value named 'other'"),
        ("leak.json", _with(id="leak", payload={"a": "{{secret.n8n}}"}), "payload", "must begin with one of"),
        ("path.json", _with(id="path", payload={"a": ["{{data..x}}"]}), "payload", "is no path"),
        ("empty.json", _with(id="empty", payload={"a": "{{ }}"}), "payload", "is no path"),
        ("large.json", _with(id="large", payload={"a": 2**60}), "payload", ""),
        ("other.json", _with(id="another"), "id", "'another'"),
        ("Bad_Name.json", _with(id="Bad_Name"), "id", "pattern"),
        ("broken.yaml", "name: [x", "file", "YAML"),
        ("broken.json", "{", "file", "JSON"),
        ("list.yaml", "- a", "file", "fields by name"),
        ("deep.json", "[" * 100_000, "file", "JSON"),
    ],
)  # fmt: skip
def test_a_broken_file_is_a_check_error_that_names_file_field_and_reason(
    workflows_dir: Path, env: Any, name: str, text: str, field: str, reason: str
) -> None:
    env(workflow_secrets={"n8n": "canary-credential"})
    write(workflows_dir, "sound")
    (workflows_dir / name).write_text(text)

    errors = definition_errors()

    assert len(errors) == 1, errors
    assert errors[0].startswith(f"{workflows_dir / name}: {field}: ")
    assert reason in errors[0]
    assert "canary" not in errors[0]
    # The site continues with the others.
    assert get_workflow("sound") is not None
    assert get_workflow(Path(name).stem) is None


def test_two_files_of_one_id_in_a_folder_are_a_check_error(workflows_dir: Path) -> None:
    write(workflows_dir, "twice")
    (workflows_dir / "twice.yml").write_text("name: Other")

    [error] = definition_errors()

    assert error == (
        f"{workflows_dir / 'twice.yml'}: id: twice.yaml in the same folder defines 'twice' too"
    )
    assert get_workflow("twice") is not None


def test_a_later_folder_replaces_a_workflow_also_by_a_broken_file(workflows_dir: Path) -> None:
    write(workflows_dir, "review-waiting", name="Mine")
    mine = get_workflow("review-waiting")

    (workflows_dir / "review-waiting.yaml").write_text("nonsense")
    definitions.reload()

    assert mine is not None
    assert mine.name == "Mine"
    assert get_workflow("review-waiting") is None


def test_a_link_to_nowhere_takes_nothing_down(workflows_dir: Path) -> None:
    write(workflows_dir, "sound")
    (workflows_dir / "lost.yaml").symlink_to(workflows_dir / "nowhere")

    [error] = definition_errors()

    assert error.startswith(f"{workflows_dir / 'lost.yaml'}: file: it cannot be read: ")
    assert get_workflow("sound") is not None


def test_workflows_come_in_ascending_order(workflows_dir: Path) -> None:
    for id_, order in (("late", 9), ("early", -1), ("second", 2), ("also-second", 2)):
        write(workflows_dir, id_, order=order)

    ids = [item.id for item in all_workflows() if item.id != "review-waiting"]

    assert ids == ["early", "also-second", "second", "late"]


def test_a_changed_file_is_read_again_in_debug_only(workflows_dir: Path, settings: Any) -> None:
    path = write(workflows_dir, "changing")
    assert get_workflow("changing") is not None

    path.write_text(path.read_text().replace("name: Changing", "name: Changed"))
    os.utime(path, ns=(1, 1))
    before = get_workflow("changing")
    settings.DEBUG = True
    after = get_workflow("changing")

    assert before is not None
    assert after is not None
    assert (before.name, after.name) == ("Changing", "Changed")


def test_the_example_of_the_docs_is_sound(workflows_dir: Path, env: Any) -> None:
    env(workflow_secrets={"n8n": "canary-credential"})
    text = (BASE_DIR / "docs" / "reference" / "workflows.md").read_text()
    example = text.partition("```yaml\n")[2].partition("```")[0]
    (workflows_dir / "documented.yaml").write_text(example)

    assert definition_errors() == []
    workflow = get_workflow("documented")
    assert workflow is not None
    assert workflow.headers == {"Authorization": "Bearer {{secret.n8n}}"}


def test_the_shipped_example_is_sound_and_off() -> None:
    definitions.reload()

    assert definition_errors() == []
    [example] = all_workflows()
    assert (example.id, example.enabled) == ("review-waiting", False)


@pytest.mark.django_db
def test_the_activity_log_is_verified_beside_a_broken_file(
    workflows_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command's exit code reports only changes of the log."""
    (workflows_dir / "broken.yaml").write_text("name: [")
    definitions.reload()
    assert definition_errors() != []

    command = load_command_class("proofroom.core", "verify_activity")
    command.execute(
        head=None, json=False, skip_checks=False, force_color=False, no_color=False
    )  # as from a shell: `call_command` looks at nothing before

    assert "The log is unchanged." in capsys.readouterr().out
