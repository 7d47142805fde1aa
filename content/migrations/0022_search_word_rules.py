"""The words of entries as the search cuts them, which SQLite cuts at blanks only; and by which rules they were cut.

SQLite knows the letters and marks of an older Unicode. After `migrate`, the words of these entries are kept anew; an
earlier version that is gone back to needs `reindex_search`.
"""

from django.db import migrations, models

TRIGGER = (
    "CREATE TRIGGER content_search_gone AFTER DELETE ON content_searchentry "
    "BEGIN DELETE FROM content_searchentry_words WHERE rowid = old.id; END"
)


def make_again(tokenizer):
    def make(apps, schema_editor):
        if schema_editor.connection.vendor != "sqlite":
            return
        # A new column may have made the table anew, without its trigger.
        for statement in (
            "DROP TRIGGER IF EXISTS content_search_gone",
            "DROP TABLE content_searchentry_words",
            f"CREATE VIRTUAL TABLE content_searchentry_words USING fts5(a, b, c, d, tokenize = '{tokenizer}')",
            TRIGGER,
        ):
            schema_editor.execute(statement)

    return make


class Migration(migrations.Migration):
    dependencies = [("content", "0021_queued_authors")]

    operations = [
        migrations.RunPython(migrations.RunPython.noop, make_again("unicode61 remove_diacritics 0")),
        migrations.AddField("searchentry", "word_rules", models.PositiveSmallIntegerField(db_default=1)),
        migrations.RunPython(make_again("ascii"), migrations.RunPython.noop),
    ]
