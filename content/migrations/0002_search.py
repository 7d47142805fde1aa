"""Where each database keeps the words of search: a column of its own, or a table beside the entries."""

from django.db import migrations

POSTGRESQL = [
    "ALTER TABLE content_searchentry ADD COLUMN document tsvector NOT NULL DEFAULT ''",
    "CREATE INDEX content_search_words ON content_searchentry USING gin (document)",
]
# The words go with their entry, whoever deletes it: nothing of it is left behind.
SQLITE = [
    "CREATE VIRTUAL TABLE content_searchentry_words USING fts5(a, b, c, d, tokenize = 'unicode61 remove_diacritics 0')",
    "CREATE TRIGGER content_search_gone AFTER DELETE ON content_searchentry "
    "BEGIN DELETE FROM content_searchentry_words WHERE rowid = old.id; END",
]
BACK = {
    "postgresql": [
        "DROP INDEX content_search_words",
        "ALTER TABLE content_searchentry DROP COLUMN document",
    ],
    "sqlite": ["DROP TRIGGER content_search_gone", "DROP TABLE content_searchentry_words"],
}


def make_words(apps, schema_editor):
    on_postgresql = schema_editor.connection.vendor == "postgresql"
    for statement in POSTGRESQL if on_postgresql else SQLITE:
        schema_editor.execute(statement)


def drop_words(apps, schema_editor):
    for statement in BACK[schema_editor.connection.vendor]:
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("content", "0001_initial")]

    operations = [migrations.RunPython(make_words, drop_words)]
