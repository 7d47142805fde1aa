"""The words of titles by themselves, on PostgreSQL, and all posts by their last change."""

import django.db.models.expressions
from django.db import migrations, models

# SQLite asks the column of the title in the table of words.
MAKE = [
    "ALTER TABLE content_searchentry ADD COLUMN title tsvector NOT NULL "
    "GENERATED ALWAYS AS (strip(ts_filter(document, '{a}'))) STORED",
    "CREATE INDEX content_search_titles ON content_searchentry USING gin (title)",
]
DROP = ["ALTER TABLE content_searchentry DROP COLUMN title"]


def make_titles(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for statement in MAKE:
            schema_editor.execute(statement)


def drop_titles(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for statement in DROP:
            schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("content", "0003_weight_of_queued_changes")]

    operations = [
        migrations.RunPython(make_titles, drop_titles),
        migrations.AddIndex(
            model_name="post",
            index=models.Index(
                django.db.models.expressions.OrderBy(
                    django.db.models.expressions.F("updated_at"), descending=True
                ),
                "id",
                condition=models.Q(("deleted_at__isnull", True), ("variation_of__isnull", True)),
                name="post_changed",
            ),
        ),
    ]
