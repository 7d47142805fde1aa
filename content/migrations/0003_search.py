import django.db.models.deletion
from django.db import migrations, models

from proofroom.core import search

TABLE = search.SearchTable("content_searchentry", "post_id")
POSTGRESQL = [
    "ALTER TABLE content_searchentry ADD COLUMN document tsvector NOT NULL DEFAULT ''",
    "CREATE INDEX content_search_words ON content_searchentry USING gin (document)",
]
# The words go with their entry, whoever deletes it: a post that is purged leaves nothing behind.
SQLITE = [
    "CREATE VIRTUAL TABLE content_searchentry_words USING fts5(a, b, c, d, tokenize = 'unicode61 remove_diacritics 0')",
    "CREATE TRIGGER content_search_gone AFTER DELETE ON content_searchentry "
    "BEGIN DELETE FROM content_searchentry_words WHERE rowid = old.id; END",
]


def keep_words(apps, schema_editor):
    """Where each database keeps the words, then the words of the posts that are there."""
    on_postgresql = schema_editor.connection.vendor == "postgresql"
    for statement in POSTGRESQL if on_postgresql else SQLITE:
        schema_editor.execute(statement)
    columns = ("id", "locale", "title", "excerpt", "search_text", "slug")
    posts = apps.get_model("content", "Post").objects.values_list(*columns)
    search.put(TABLE, (search.SearchText(id_, locale, tuple(texts)) for id_, locale, *texts in posts))
    if on_postgresql:
        # What waits to be checked would not let the table of posts be altered below.
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        schema_editor.execute("SET CONSTRAINTS ALL DEFERRED")


def forget_words(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute("DROP TRIGGER content_search_gone")
        schema_editor.execute("DROP TABLE content_searchentry_words")


class Migration(migrations.Migration):

    dependencies = [("content", "0002_post_newest")]

    operations = [
        migrations.CreateModel(
            name="SearchEntry",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("post", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="content.post")),
            ],
        ),
        migrations.RunPython(keep_words, forget_words),
        migrations.RemoveField(model_name="post", name="search_text"),
    ]
