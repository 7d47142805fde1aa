"""Every model declares its personal data; retention and storage in browsers are declared as they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.db import models
from django.test.utils import isolate_apps

from proofroom.core.privacy.declarations import (
    _declared,
    days_of,
    kinds,
    personal_columns,
    retentions,
    stored_items,
    undeclared_models,
)
from proofroom.core.privacy.kinds import Erasure, TableKind

SECRETS = re.compile(r"password|hash$|token$|secret|^key$|^code$|session_key|session_data|^data$")


def change_environment(monkeypatch: pytest.MonkeyPatch, **values: object) -> None:
    monkeypatch.setattr(settings, "CMS_ENV", settings.CMS_ENV.model_copy(update=values))


def test_every_model_declares_its_personal_data() -> None:
    assert undeclared_models() == {}


@isolate_apps("forms")
def test_a_model_with_columns_about_people_must_be_declared() -> None:
    class Guest(models.Model):
        email = models.EmailField()
        ip_address = models.GenericIPAddressField()
        contact = models.EmailField()
        first_name = models.CharField(max_length=20)
        made_by = models.ForeignKey("proofroom_accounts.User", models.CASCADE)
        emails_sent = models.IntegerField()
        title = models.CharField(max_length=20)

        class Meta:
            app_label = "forms"

    # The isolated registry does not know the account of the foreign key.
    Guest._meta.get_field("made_by").remote_field.model = apps.get_model("proofroom_accounts.User")

    columns = ["email", "ip_address", "contact", "first_name", "made_by"]
    assert personal_columns(Guest) == columns
    assert undeclared_models([Guest]) == {"forms.Guest": columns}


def test_a_declaration_names_existing_models_and_columns() -> None:
    known = {model._meta.label for model in apps.get_models(include_auto_created=True)}
    named = {label for kind in kinds() for label in kind.models} | {
        *_declared("WITHOUT_PERSONAL_DATA")
    }

    assert named == known - {model._meta.label for model in apps.get_models() if model._meta.proxy}


def test_exports_contain_no_secret_column() -> None:
    shown = {
        (table.model, column)
        for kind in kinds()
        if isinstance(kind, TableKind)
        for table in kind.tables
        for column in table.shown
    }

    assert len(shown) > 50
    assert not [one for one in shown if SECRETS.search(one[1])]


def test_every_shown_column_is_there() -> None:
    for kind in kinds():
        for table in getattr(kind, "tables", ()):
            record = table.record(apps.get_model(table.model)())
            assert len(record) == 2 + len(table.shown), (kind.name, table.model, record)


def test_kinds_that_are_kept_say_why() -> None:
    assert not [kind.name for kind in kinds() if kind.erasure == Erasure.KEPT and not kind.reason]


def test_every_retention_has_a_task_and_a_setting_or_days() -> None:
    scheduled = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    for retention in retentions():
        assert retention.task_name in scheduled, retention.name
        assert bool(retention.setting) != bool(retention.fixed_days), retention.name
        if retention.setting:
            assert retention.setting.lower() in type(settings.CMS_ENV).model_fields


def test_days_come_from_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    change_environment(monkeypatch, form_retention_days=12)

    assert days_of("submissions") == 12
    assert days_of("mcp-calls") == 90


def test_every_variable_of_retention_is_in_the_table() -> None:
    # TRASH_DAYS deletes content, all others records.
    variables = {
        name.upper() for name in type(settings.CMS_ENV).model_fields if name.endswith("_days")
    }

    assert variables == {retention.setting for retention in retentions()} - {""}


def test_the_docs_have_the_table_of_retention() -> None:
    page = (Path(settings.BASE_DIR) / "docs/privacy.md").read_text()
    rows = "".join(
        f"| {one.label} | {f'`{one.setting}`, {_default(one.setting)}' if one.setting else one.duration} |\n"
        for one in sorted(retentions(), key=lambda one: str(one.label))
    )

    assert rows in page


def _default(setting: str) -> str:
    days = type(settings.CMS_ENV).model_fields[setting.lower()].default
    return f"{days} days" if days else "for ever"


SCRIPTS: dict[str, set[str]] = {
    "agents/runs.js": {"cms-runs"},
    "consent.js": {"cms-consent"},
    "design/shell.js": {"admin-recent", "admin_navigation", "admin_navigation_lists"},
    "design/theme.js": {"admin_theme"},
    "design/time_zone.js": {"admin_time_zone"},
    "editor/editor.js": {"cms:place:…", "editor_sidebar"},
    "editor/clipboard.js": {"cms:copied-modules"},
    "editor/modules.js": {"cms:open:…"},
    "fields/live_preview.js": {"cms.live-preview"},
    "review/decisions.js": {"review:…"},
    "review/pane.js": {"review-pane"},
    "tree/page_tree.js": {"tree:…"},
}
"""What each script stores. A script that stores something new must be declared and entered here."""


def test_scripts_store_only_what_is_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    change_environment(monkeypatch, analytics_consent=True)
    folder = Path(settings.BASE_DIR) / "static/cms"
    stores = re.compile(r"Storage\.setItem|document\.cookie\s*=[^=]")
    found = {
        str(path.relative_to(folder))
        for path in folder.rglob("*.js")
        if stores.search(path.read_text(errors="replace"))
    }
    declared = {name for item in stored_items() for name in item.title.split(", ")}

    assert found == {*SCRIPTS}
    assert set().union(*SCRIPTS.values()) <= declared


def test_code_sets_only_cookies_that_are_declared() -> None:
    sets = re.compile(r"\.set_cookie\(\s*([\w.]+)")
    found = {
        name
        for top in (
            "proofroom",
            "proofroom_apps",
            "content",
            "forms",
            "analytics",
            "cms_project",
            "media",
            "seo",
        )
        for path in (Path(settings.BASE_DIR) / top).rglob("*.py")
        for name in sets.findall(path.read_text())
    }

    assert found == {"STAFF_COOKIE", "THEME_COOKIE", "settings.LANGUAGE_COOKIE_NAME"}
    declared = {item.title for item in stored_items()}
    assert {
        "sessionid",
        "csrftoken",
        "cms_staff",
        "admin_theme",
        "django_language",
        "messages",
    } <= declared


def test_visitors_get_nothing_stored_unless_they_are_asked() -> None:
    assert not [item for item in stored_items() if item.audience == "visitors"]
