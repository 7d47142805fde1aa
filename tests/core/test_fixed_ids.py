"""Ids that are stored, queued or used as salt are constants that stay when their code moves."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings
from django.utils.module_loading import import_string

from cms_project.celery import app
from proofroom.core.outbox import events

_NAMES_OF_CODE = {"__module__", "__name__", "__qualname__"}
_KEEPING = {
    "Signer",
    "TimestampSigner",
    "cache",
    "salted_hmac",
    "shared_task",
    "signing",
    "subscribe",
    "subscribe_to_many",
}
"""Functions and objects whose arguments are stored, queued or used as salt."""

SUBSCRIBERS = {
    "agents_app.comment_mentions.answer",
    "agents_app.reactions.starting.react",
    "agents_app.step_runs.end_step",
    "agents_app.triggers.start_agents",
    "comments.passages.follow",
    "content.live_changes.record_live_changes",
    "content.pattern_moves.follow_pattern",
    "content.posts.indirect_updates.follow_cause",
    "content.search_following.follow",
    "content.tree_moves.follow_tree",
    "forms.confirmations.send_of_event",
    "embeds.post_events.follow",
    "notifications.notify.agent.batch",
    "notifications.notify.agent.budget",
    "notifications.notify.agent.run",
    "notifications.notify.agent.run-failed",
    "notifications.notify.archive.export-failed",
    "notifications.notify.comment.assignment",
    "notifications.notify.comment.due",
    "notifications.notify.comment.mention",
    "notifications.notify.comment.reply",
    "notifications.notify.feedback.created",
    "notifications.notify.form.submitted",
    "notifications.notify.inbox.batch",
    "notifications.notify.post.published",
    "notifications.notify.post.schedule-failed",
    "notifications.notify.release.failed",
    "notifications.notify.review.decided",
    "notifications.notify.review.waiting",
    "notifications.notify.reviewer.advice",
    "notifications.notify.shared.decided",
    "notifications.notify.step.asked",
    "notifications.notify.step.done",
    "notifications.notify.step.due",
    "notifications.notify.step.returned",
    "notifications.notify.step.stopped",
    "notifications.notify.shared.waiting",
    "notifications.notify.webhook.disabled",
    "steps.changed_content.ask_again",
    "steps.guests.end_step",
    "webhooks.automation.starting.start_workflows",
    "webhooks.chat.notices.tell_chat",
    "webhooks.subscribers.queue_for_webhooks",
}
TASKS = {
    "accounts.tasks.purge_sign_ins",
    "agents_app.tasks.call_reaction",
    "agents_app.tasks.keep_reactions",
    "agents_app.tasks.prune_transcripts",
    "agents_app.tasks.revert_batch",
    "agents_app.tasks.run_agent",
    "agents_app.tasks.run_evaluation",
    "agents_app.tasks.sweep_reactions",
    "agents_app.tasks.sweep_runs",
    "agents_app.tasks.test_provider",
    "analytics.tasks.add_up_events",
    "analytics.tasks.merge_rare_figures",
    "analytics.tasks.prune_events",
    "comments.tasks.prune_comments",
    "comments.tasks.remind_of_due",
    "content.tasks.check_links",
    "content.tasks.collect_search_words",
    "content.tasks.decide_batch",
    "content.tasks.prune_changes",
    "content.tasks.publish_due_posts",
    "content.tasks.purge_trash",
    "content.tasks.run_post_job",
    "content.tasks.run_replacement",
    "content.tasks.sweep_decisions",
    "embeds.tasks.fetch_due_facts",
    "core.tasks.dispatch_event",
    "core.tasks.dispatch_events",
    "core.tasks.export_readings",
    "core.tasks.prune_activity",
    "core.tasks.seal_events",
    "core.tasks.sweep_events",
    "feedback.tasks.prune_feedback",
    "forms.tasks.prune_submissions",
    "imports.tasks.run_import",
    "imports.tasks.sweep_imports",
    "mcp_bridge.tasks.prune_calls",
    "media.tasks.check_files",
    "media.tasks.delete_files",
    "media.tasks.make_variants",
    "media.tasks.sweep_variants",
    "notifications.tasks.digest",
    "notifications.tasks.mail",
    "notifications.tasks.purge",
    "oauth.tasks.purge",
    "previews.tasks.forget_old_links",
    "privacy.tasks.delete_expired_exports",
    "privacy.tasks.run_request",
    "releases.tasks.run_release",
    "reviewers.tasks.forget_old_links",
    "steps.tasks.remind_of_due",
    "webhooks.tasks.prune_deliveries",
    "webhooks.tasks.purge_deliveries",
    "webhooks.tasks.replay_deliveries",
    "webhooks.tasks.send_deliveries",
    "webhooks.tasks.sweep_deliveries",
}
"""Task names in queues and in the scheduler's file. Add new tasks here, and never rename one."""
SALTS = {
    "accounts.session.{…}.{…}",
    "agents.fence",
    "calendar.feed",
    "content.review.{…}",
    "content.site.assignment",
    "core.form_stamps",
    "core.shared_answers",
    "core.tool_cursors",
    "oauth.token",
}


@cache
def modules() -> list[ast.Module]:
    """Return the product's modules, parsed once for all tests."""
    base = Path(settings.BASE_DIR)
    tops = {path: path.relative_to(base).parts[0] for path in sorted(base.glob("*/**/*.py"))}
    return [
        ast.parse(path.read_text())
        for path, top in tops.items()
        if not top.startswith(".") and top not in ("tests", "benchmarks", "var")
    ]


def calls() -> Iterator[tuple[ast.Module, ast.Call, str]]:
    """Return every call that stores its arguments, with the name of the function."""
    for module in modules():
        for node in ast.walk(module):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func).split(".")
            if _KEEPING.intersection(called):
                yield module, node, called[-1]


def constant(module: ast.Module, node: ast.expr) -> str:
    """Return the string value of an expression, with `{…}` for variable parts."""
    if isinstance(node, ast.Name):
        for statement in module.body:
            if not isinstance(statement, ast.AnnAssign) or statement.value is None:
                continue
            if ast.unparse(statement.target) == node.id:
                return constant(module, statement.value)
    if isinstance(node, ast.JoinedStr):
        parts = (part.value if isinstance(part, ast.Constant) else "{…}" for part in node.values)
        return "".join(map(str, parts))
    assert isinstance(node, ast.Constant), f"{ast.unparse(node)} is no constant"
    return str(node.value)


def test_no_stored_id_is_taken_from_the_code() -> None:
    for module, call, _ in calls():
        given = (call, *(each for each in module.body if isinstance(each, ast.AnnAssign)))
        for node in (inner for each in given for inner in ast.walk(each)):
            name = getattr(node, "attr", None) or getattr(node, "id", None)
            assert name not in _NAMES_OF_CODE, ast.unparse(call)


def test_salts_are_these() -> None:
    found = {
        constant(module, call.args[0]) for module, call, name in calls() if name == "salted_hmac"
    }

    assert found == SALTS


def test_every_task_says_its_name() -> None:
    decorators = [
        decorator
        for module in modules()
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if "shared_task" in ast.unparse(decorator)
    ]

    said = {
        str(keyword.value.value)
        for decorator in decorators
        if isinstance(decorator, ast.Call)
        for keyword in decorator.keywords
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant)
    }

    of_jobs = {
        str(statement.value.value)
        for module in modules()
        for node in ast.walk(module)
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
        and ast.unparse(statement.target) == "task"
        and isinstance(statement.value, ast.Constant)
    }
    assert (len(decorators) + len(of_jobs), said | of_jobs) == (len(TASKS), TASKS)


def test_the_schedule_and_the_routes_name_tasks() -> None:
    app.loader.import_default_modules()

    assert {name for name in app.tasks if not name.startswith("celery.")} == TASKS
    assert {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()} <= TASKS
    routes = {route for route in settings.CELERY_TASK_ROUTES if not route.endswith(".*")}
    assert routes <= TASKS


def test_what_is_queued_is_a_task() -> None:
    queued = {
        node.value
        for module in modules()
        for call in ast.walk(module)
        if isinstance(call, ast.Call) and "queue_task" in ast.unparse(call)
        for node in call.args
        if isinstance(node, ast.Constant) and ".tasks." in str(node.value)
    }

    assert len(queued) > 10
    assert queued <= TASKS


def test_subscribers_of_events_are_these() -> None:
    found = {each.id for listed in events._subscribers.values() for each in listed}

    assert found == SUBSCRIBERS


@pytest.mark.parametrize(
    "path",
    [
        each
        for each in settings.SPECTACULAR_SETTINGS["ENUM_NAME_OVERRIDES"].values()
        if isinstance(each, str)
    ],
)
def test_names_of_choices_in_the_interface_lead_to_choices(path: str) -> None:
    module, _, name = path.removesuffix(".choices").removesuffix(".values").rpartition(".")

    assert import_string(f"{module}.{name}")
