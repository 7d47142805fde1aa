"""`manage.py preview_content_migration APP NAME`: show the effects of a migration on stored content.

Changes nothing.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import AmbiguityError

from content.migration_operations.operation import ChangeModule, ContentOperation
from proofroom.core.errors import RuleViolation
from proofroom.core.json import JsonObject
from proofroom.definitions import validate_custom_fields, validate_props


class Command(BaseCommand):
    help = (
        "Show what a content migration would change: the number of rows, the first values before and after, and "
        "the values that the current definitions refuse. It runs the migration and rolls it back."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("app")
        parser.add_argument("name", help="name of the migration, or its prefix, such as 0003")

    def handle(self, *args: Any, **options: Any) -> None:
        executor = MigrationExecutor(connection)
        loader = executor.loader
        try:
            migration = loader.get_migration_by_prefix(options["app"], options["name"])
        except (KeyError, AmbiguityError):
            raise CommandError(
                f"{options['app']} has no migration {options['name']}, or more than one."
            ) from None
        key = (migration.app_label, migration.name)
        if key in loader.applied_migrations:
            raise CommandError(f"{migration} is already applied.")
        before = [node for node, _ in executor.migration_plan([key]) if node != migration]
        if before:
            names = ", ".join(str(node) for node in before)
            raise CommandError(f"Apply these migrations first: {names}.")
        operations = [one for one in migration.operations if isinstance(one, ContentOperation)]
        if not operations:
            raise CommandError(f"{migration} changes no content.")
        apps = loader.project_state([key], at_end=False).apps
        with transaction.atomic():
            for operation in operations:
                self._preview(operation, apps)
            # All operations run for real and are then rolled back, so the preview sees the result of earlier
            # ones.
            transaction.set_rollback(True)
        self.stdout.write("Preview only: nothing was changed. Run `migrate` to apply it.")

    def _preview(self, operation: ContentOperation, apps: Any) -> None:
        rewriting = operation.rewriting(operation.steps)
        refused: Counter[str] = Counter()

        def inspect(values: JsonObject) -> None:
            try:
                if isinstance(operation, ChangeModule):
                    validate_props(operation.becomes or operation.type, values)
                else:
                    validate_custom_fields(operation.type, values)
            except RuleViolation as error:
                refused[str(error)] += 1

        rewriting.inspect = inspect
        changed = operation.carry_over(apps, rewriting)
        self.stdout.write(self.style.MIGRATE_HEADING(operation.describe()))
        if not changed:
            self.stdout.write("  No stored content changes.")
        for label, count in changed.items():
            self.stdout.write(f"  {count:>7,} {label}")
        for old, new in rewriting.examples:
            self.stdout.write(f"  - {_line(old)}\n  + {_line(new)}")
        for sentence, count in refused.most_common(20):
            self.stdout.write(
                self.style.WARNING(f"  {count:>7,} refused by the current definition: {sentence}")
            )


def _line(values: JsonObject) -> str:
    text = json.dumps(values, ensure_ascii=False)
    return text if len(text) <= 300 else f"{text[:300]}…"
