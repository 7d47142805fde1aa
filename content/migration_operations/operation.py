"""Django migration operations that convert stored content, in the transaction of their migration.

They also convert everything that could restore the old format: drafts, revisions, rejections, module groups and
versions of global modules. Search, references and the inbox are updated after `migrate`, see `derived_data`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast
from uuid import UUID

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models import Q

from content.migration_operations.documents import CustomFieldsRewriting, ModuleRewriting, Rewriting
from content.migration_operations.rows import StoredRows
from content.migration_operations.steps import Step


class ContentOperation(Operation):
    """Steps applied to all stored content. Reversible if each step is.

    The steps are given as arguments, or as `steps` in migrations written by Django.
    """

    reduces_to_sql = False

    def __init__(self, type_: str, *more: Step, steps: Sequence[Step] = ()) -> None:
        self.type = type_
        self.steps = (*more, *steps)

    @property
    def reversible(self) -> bool:  # type: ignore[override]  # a class attribute in Django
        return all(step.reversed() is not None for step in self.steps)

    def rewriting(self, steps: Sequence[Step]) -> Rewriting:
        """Return the conversion of values by these steps."""
        raise NotImplementedError

    def carry_over(self, apps: Any, rewriting: Rewriting) -> dict[str, int]:
        """Convert everything stored, with the models of a migration state.

        Return the number of changed rows by kind.
        """
        rows = StoredRows(apps, rewriting)
        posts = self.rewrite_live(rows, rewriting)
        rows.documents(self.type)
        rows.paths(posts)
        changed = {label: count for label, count in rows.changed.items() if count}
        if changed:
            apps.get_model("content", "ContentMigration").objects.create(
                type=self.type, post_ids=[str(post) for post in posts], changed=changed
            )
        return changed

    def rewrite_live(self, rows: StoredRows, rewriting: Any) -> Sequence[UUID]:
        """Lock the posts with values of the type, convert the live content, and return the post ids."""
        raise NotImplementedError

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """Do nothing: the operation changes no tables."""

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        self.carry_over(from_state.apps, self.rewriting(self.steps))

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        back = [cast(Step, step.reversed()) for step in reversed(self.steps)]
        self.carry_over(from_state.apps, self.rewriting(back))

    def deconstruct(self) -> tuple[str, Sequence[Any], dict[str, Any]]:
        # By keyword, because Django's migration writer doesn't support `*args`.
        return (self.__class__.__name__, [], {"type_": self.type, "steps": list(self.steps)})


class ChangeModule(ContentOperation):
    """Apply steps to every module of type `type_`; `becomes` changes the type.

    A change of type is not reversible, because modules that already had the new type can't be distinguished.
    """

    def __init__(
        self, type_: str, *more: Step, steps: Sequence[Step] = (), becomes: str = ""
    ) -> None:
        super().__init__(type_, *more, steps=steps)
        self.becomes = becomes

    @property
    def reversible(self) -> bool:  # type: ignore[override]
        return not self.becomes and super().reversible

    def rewriting(self, steps: Sequence[Step]) -> ModuleRewriting:
        return ModuleRewriting(self.type, steps, self.becomes)

    def rewrite_live(self, rows: StoredRows, rewriting: ModuleRewriting) -> Sequence[UUID]:
        posts = rows.lock_posts(rows.with_module(self.type))
        rows.modules(rewriting)
        return posts

    def describe(self) -> str:
        return f"Carry over {self.type} modules"

    def deconstruct(self) -> tuple[str, Sequence[Any], dict[str, Any]]:
        name, arguments, named = super().deconstruct()
        return (name, arguments, {**named, "becomes": self.becomes} if self.becomes else named)


class ChangeCustomFields(ContentOperation):
    """Apply steps to the custom fields of every post of type `type_`."""

    def rewriting(self, steps: Sequence[Step]) -> CustomFieldsRewriting:
        return CustomFieldsRewriting(self.type, steps)

    def rewrite_live(self, rows: StoredRows, rewriting: CustomFieldsRewriting) -> Sequence[UUID]:
        posts = rows.lock_posts(Q(type=self.type))
        rows.custom_fields(rewriting)
        return posts

    def describe(self) -> str:
        return f"Carry over the custom fields of {self.type} posts"
