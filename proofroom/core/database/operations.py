"""Operations for migrations of large tables: on PostgreSQL they let readers and writers continue.

They are Django's own, which only PostgreSQL has. On SQLite they run the plain operation, or nothing.
"""

from __future__ import annotations

from django.contrib.postgres import operations
from django.db import models, transaction
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import AddConstraint, AddIndex, RemoveIndex, RunSQL
from django.db.migrations.state import ProjectState


class AddIndexConcurrently(operations.AddIndexConcurrently):
    """Create an index. The migration needs `atomic = False`, and may run again after a failure."""

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        if not _is_postgresql(schema_editor):
            AddIndex.database_forwards(self, app_label, schema_editor, from_state, to_state)
            return
        model = to_state.apps.get_model(app_label, self.model_name)
        if partitions := _partitions_of(model, schema_editor):
            self._add_to_each(partitions, model, schema_editor)
            return
        # A failed build leaves an invalid index of this name.
        name = schema_editor.quote_name(self.index.name)
        schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
        super().database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        model = from_state.apps.get_model(app_label, self.model_name)
        if _is_postgresql(schema_editor) and not _partitions_of(model, schema_editor):
            super().database_backwards(app_label, schema_editor, from_state, to_state)
        else:
            AddIndex.database_backwards(self, app_label, schema_editor, from_state, to_state)

    def _add_to_each(
        self,
        partitions: list[str],
        model: type[models.Model],
        schema_editor: BaseDatabaseSchemaEditor,
    ) -> None:
        """Create the index of each partition, and one of the whole table that consists of them."""
        quote = schema_editor.quote_name
        name = quote(self.index.name)
        # The transaction limits the wait for the lock.
        with transaction.atomic(using=schema_editor.connection.alias):
            schema_editor.execute(f"DROP INDEX IF EXISTS {name}")
            statement = self.index.create_sql(model, schema_editor)
            parts = {**statement.parts, "table": f"ONLY {quote(model._meta.db_table)}"}
            schema_editor.execute(statement.template % parts, params=None)
        for partition in partitions:
            own_name = quote(f"{partition}_{self.index.name}")
            schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {own_name}")
            statement = self.index.create_sql(model, schema_editor, concurrently=True)
            parts = {**statement.parts, "table": quote(partition), "name": own_name}
            schema_editor.execute(statement.template % parts, params=None)
            schema_editor.execute(f"ALTER INDEX {name} ATTACH PARTITION {own_name}")


class RemoveIndexConcurrently(operations.RemoveIndexConcurrently):
    """Remove an index. The migration needs `atomic = False`."""

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        model = from_state.apps.get_model(app_label, self.model_name)
        # PostgreSQL removes the index of a partitioned table only at once, which is quick.
        if _is_postgresql(schema_editor) and not _partitions_of(model, schema_editor):
            super().database_forwards(app_label, schema_editor, from_state, to_state)
        else:
            RemoveIndex.database_forwards(self, app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        index = to_state.models[app_label, self.model_name_lower].get_index_by_name(self.name)
        AddIndexConcurrently(self.model_name, index).database_forwards(
            app_label, schema_editor, from_state, to_state
        )


class AddConstraintNotValid(operations.AddConstraintNotValid):
    """Add a check that holds for new rows. `ValidateConstraint`, in a later migration, checks the others."""

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        if _is_postgresql(schema_editor):
            super().database_forwards(app_label, schema_editor, from_state, to_state)
        else:
            AddConstraint.database_forwards(self, app_label, schema_editor, from_state, to_state)


class ValidateConstraint(operations.ValidateConstraint):
    """Check the existing rows. SQLite checked them when the constraint was added."""

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        if _is_postgresql(schema_editor):
            super().database_forwards(app_label, schema_editor, from_state, to_state)


class RunPostgreSQL(RunSQL):
    """Run SQL on PostgreSQL only. Unlike SQL in `RunPython`, the check of migrations reads it."""

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        if _is_postgresql(schema_editor):
            super().database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        if _is_postgresql(schema_editor):
            super().database_backwards(app_label, schema_editor, from_state, to_state)


def _is_postgresql(schema_editor: BaseDatabaseSchemaEditor) -> bool:
    return schema_editor.connection.vendor == "postgresql"


def _partitions_of(model: type[models.Model], schema_editor: BaseDatabaseSchemaEditor) -> list[str]:
    if not _is_postgresql(schema_editor) or schema_editor.collect_sql:
        return []
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_partition_tree(%s::regclass) AS tree JOIN pg_class ON oid = relid"
            " WHERE tree.isleaf AND tree.level > 0 ORDER BY relname",
            [model._meta.db_table],
        )
        return [name for (name,) in cursor.fetchall()]
