"""Store the words of search: in a column of its own on PostgreSQL, in a full-text table on SQLite."""

from django.db import DatabaseError, migrations, transaction

POSTGRESQL = [
    "ALTER TABLE content_searchentry ADD COLUMN document tsvector NOT NULL DEFAULT ''",
    "CREATE INDEX content_search_words ON content_searchentry USING gin (document)",
    "ALTER TABLE content_searchentry ADD COLUMN title tsvector NOT NULL "
    "GENERATED ALWAYS AS (strip(ts_filter(document, '{a}'))) STORED",
    "CREATE INDEX content_search_titles ON content_searchentry USING gin (title)",
]
# SQLite splits words at spaces only, because the product has already split them.
# The trigger deletes the words of an entry with the entry, also if its row is deleted by SQL.
SQLITE = [
    "CREATE VIRTUAL TABLE content_searchentry_words USING fts5(a, b, c, d, tokenize = 'ascii')",
    "CREATE TRIGGER content_search_gone AFTER DELETE ON content_searchentry "
    "BEGIN DELETE FROM content_searchentry_words WHERE rowid = old.id; END",
]
TRIGRAMS = "CREATE INDEX content_searchword_trigrams ON content_searchword USING gin (word gin_trgm_ops)"
BACK = {
    "postgresql": [
        "ALTER TABLE content_searchentry DROP COLUMN title",
        "DROP INDEX content_search_words",
        "ALTER TABLE content_searchentry DROP COLUMN document",
    ],
    "sqlite": ["DROP TRIGGER content_search_gone", "DROP TABLE content_searchentry_words"],
}


def create_words(apps, schema_editor):
    on_postgresql = schema_editor.connection.vendor == "postgresql"
    for statement in POSTGRESQL if on_postgresql else SQLITE:
        schema_editor.execute(statement)


def drop_words(apps, schema_editor):
    for statement in BACK[schema_editor.connection.vendor]:
        schema_editor.execute(statement)



def create_trigrams(apps, schema_editor):
    connection = schema_editor.connection
    if connection.vendor != "postgresql":
        return
    try:
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            # A trusted extension: a role that may create tables in the database may install it.
            cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
            cursor.execute(TRIGRAMS)
    except DatabaseError:
        # The server does not have the extension, or the role may not install it. Search then compares words that
        # begin with the same letter.
        return


def drop_trigrams(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP INDEX IF EXISTS content_searchword_trigrams")


class Migration(migrations.Migration):
    dependencies = [("content", "0001_initial")]

    operations = [
        migrations.RunPython(create_words, drop_words),
        migrations.RunPython(create_trigrams, drop_trigrams),
    ]
