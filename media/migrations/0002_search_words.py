"""Store the words of search: in a column of its own on PostgreSQL, in a full-text table on SQLite."""

from django.db import migrations

POSTGRESQL = [
    "ALTER TABLE media_assetsearchentry ADD COLUMN document tsvector NOT NULL DEFAULT ''",
    "CREATE INDEX media_search_words ON media_assetsearchentry USING gin (document)",
    "CREATE INDEX media_asset_categories ON media_asset USING gin (categories jsonb_path_ops)",
]
# SQLite splits words at spaces only, because the product has already split them.
# The trigger deletes the words of an entry with the entry, also if its row is deleted by SQL.
SQLITE = [
    "CREATE VIRTUAL TABLE media_assetsearchentry_words USING fts5(a, b, c, d, tokenize = 'ascii')",
    "CREATE TRIGGER media_search_gone AFTER DELETE ON media_assetsearchentry "
    "BEGIN DELETE FROM media_assetsearchentry_words WHERE rowid = old.id; END",
]
BACK = {
    "postgresql": [
        "DROP INDEX media_asset_categories",
        "DROP INDEX media_search_words",
        "ALTER TABLE media_assetsearchentry DROP COLUMN document",
    ],
    "sqlite": ["DROP TRIGGER media_search_gone", "DROP TABLE media_assetsearchentry_words"],
}


def create_words(apps, schema_editor):
    on_postgresql = schema_editor.connection.vendor == "postgresql"
    for statement in POSTGRESQL if on_postgresql else SQLITE:
        schema_editor.execute(statement)


def drop_words(apps, schema_editor):
    for statement in BACK[schema_editor.connection.vendor]:
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("media", "0001_initial")]

    operations = [
        migrations.RunPython(create_words, drop_words),
    ]
