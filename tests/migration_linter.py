"""The check of migrations: `python -m tests.migration_linter`. docs/development/migrations.md has its rules.

django-migration-linter reads the SQL that PostgreSQL would get. No server is needed.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import django
from django.apps import apps
from django.conf import settings
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.postgresql.base import DatabaseWrapper
from django.db.backends.postgresql.schema import DatabaseSchemaEditor
from django.db.migrations import RunPython
from django_migration_linter import MessageType, MigrationLinter
from django_migration_linter.sql_analyser.base import (
    Check,
    CheckMode,
    CheckType,
    Issue,
    update_migration_checks,
)
from django_migration_linter.sql_analyser.postgresql import PostgresqlAnalyser

from cms_project.own_packages import OWN_PACKAGES

FIRST_RELEASE: Final = (
    "0001_initial",
    "0002_database_notifications",
    "0002_monthly_partitions",
    "0002_search_words",
)
"""Migrations of 0.1.0, which start from an empty database."""
CONTRACT: Final = "_contract_"
"""Part of the name of a migration that removes what the release before no longer uses."""
_REMOVALS: Final = ("ADD_UNIQUE", "DROP_COLUMN", "DROP_TABLE", "NOT_NULL")
_CREATE_TABLE: Final = re.compile(r"CREATE TABLE (\S+) ")
_INDEX: Final = re.compile(r"CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY).*? ON (\S+) ")
_CONSTRAINT: Final = re.compile(
    r"ALTER TABLE (\S+) ADD CONSTRAINT (?!.*NOT VALID).* (?:CHECK|FOREIGN KEY|UNIQUE(?! USING))"
)


def changes_existing_table(pattern: re.Pattern[str]) -> Callable[..., bool]:
    """Return a check for statements of a pattern whose table the migration itself does not create."""

    def check(sql_statements: Sequence[str], **_: object) -> bool:
        created = {found[1] for sql in sql_statements if (found := _CREATE_TABLE.match(sql))}
        changed = filter(None, map(pattern.search, sql_statements))
        return any(match[1] not in created for match in changed)

    return check


class Analyser(PostgresqlAnalyser):
    """Also finds constraints that PostgreSQL checks at once, and allows every index of a new table."""

    migration_checks = update_migration_checks(
        PostgresqlAnalyser.migration_checks,
        [
            Check(
                code="CREATE_INDEX",
                fn=changes_existing_table(_INDEX),
                message="CREATE INDEX without CONCURRENTLY locks table",
                mode=CheckMode.TRANSACTION,
                type=CheckType.ERROR,
            ),
            Check(
                code="ADD_CONSTRAINT",
                fn=changes_existing_table(_CONSTRAINT),
                message="ADD CONSTRAINT without NOT VALID or USING INDEX locks table",
                mode=CheckMode.TRANSACTION,
                type=CheckType.ERROR,
            ),
        ],
    )


class ContractAnalyser(Analyser):
    """Allows removals."""

    base_migration_checks = [
        check for check in Analyser.base_migration_checks if check.code not in _REMOVALS
    ]


class UnconnectedEditor(DatabaseSchemaEditor):
    """Writes SQL without a server, which Django asks for quotes and for names of constraints."""

    def execute(self, sql: Any, params: Any = ()) -> None:
        BaseDatabaseSchemaEditor.execute(self, sql, params)

    def _constraint_names(self, *_: object, **__: object) -> list[str]:
        return []


class ReleaseLinter(MigrationLinter):
    """Checks the product's migrations after the first release."""

    def __init__(self, analyser: type[Analyser], **options: str) -> None:
        super().__init__(
            include_apps=[
                app.label
                for app in apps.get_app_configs()
                if app.name.partition(".")[0] in OWN_PACKAGES
            ],
            ignore_name=FIRST_RELEASE,
            all_warnings_as_errors=True,
            quiet=[MessageType.IGNORE.value],
            **options,
        )
        self.sql_analyser_class = analyser
        self.postgresql = DatabaseWrapper(
            {**settings.DATABASES["default"], "NAME": "none", "TIME_ZONE": None, "OPTIONS": {}}
        )
        # Otherwise Django asks the server. It is the oldest version that the product runs on.
        self.postgresql.__dict__["pg_version"] = 15_00_00

    def get_sql(self, app_label: str, migration_name: str) -> list[str]:
        """Return the migration's statements for PostgreSQL."""
        key = (app_label, migration_name)
        migration = self.migration_loader.get_migration(*key)
        state = self.migration_loader.project_state(key, at_end=False)
        with UnconnectedEditor(self.postgresql, collect_sql=True, atomic=False) as editor:
            migration.apply(state, editor, collect_sql=True)
        statements: list[str] = editor.collected_sql
        return statements

    def lint_runpython(self, runpython: RunPython) -> tuple[list[Issue], list[Issue], list[Issue]]:
        """Also refuse SQL, which the linter cannot see there."""
        errors, ignored, warnings = super().lint_runpython(runpython)
        errors += [
            Issue(
                code="RUNPYTHON_SQL",
                message=f"{function.__name__!r}: run SQL with RunSQL or RunPostgreSQL instead",
            )
            for function in functions_of(runpython)
            if re.search(r"schema_editor\.\w+\(|\.cursor\(", inspect.getsource(function))
        ]
        return errors, ignored, warnings


def functions_of(operation: RunPython) -> Iterator[Callable[..., object]]:
    for function in (operation.code, operation.reverse_code):
        if function is not None:
            yield MigrationLinter.discover_function(function)


def lint() -> bool:
    """Print what is wrong with the migrations. Returns whether they are all right."""
    linters = (
        ReleaseLinter(Analyser, ignore_name_contains=CONTRACT),
        ReleaseLinter(ContractAnalyser, include_name_contains=CONTRACT),
    )
    for linter in linters:
        linter.lint_all_migrations()
    return not any(linter.has_errors for linter in linters)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cms_project.settings")
    django.setup()
    sys.exit(0 if lint() else "See docs/development/migrations.md.")
