import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from proofroom.core import search

TABLE = search.SearchTable("media_searchentry", "asset_id")
POSTGRESQL = [
    "ALTER TABLE media_searchentry ADD COLUMN document tsvector NOT NULL DEFAULT ''",
    "CREATE INDEX media_search_words ON media_searchentry USING gin (document)",
    "CREATE INDEX media_asset_categories ON media_asset USING gin (categories jsonb_path_ops)",
]
# The words go with their entry, whoever deletes it.
SQLITE = [
    "CREATE VIRTUAL TABLE media_searchentry_words USING fts5(a, b, c, d, tokenize = 'unicode61 remove_diacritics 0')",
    "CREATE TRIGGER media_search_gone AFTER DELETE ON media_searchentry "
    "BEGIN DELETE FROM media_searchentry_words WHERE rowid = old.id; END",
]


def keep_words(apps, schema_editor):
    """Where each database keeps the words, then the words of the files that are there."""
    on_postgresql = schema_editor.connection.vendor == "postgresql"
    for statement in POSTGRESQL if on_postgresql else SQLITE:
        schema_editor.execute(statement)
    rows = apps.get_model("media", "Asset").objects.values_list(
        "id", "alt_text", "description", "filename", "categories"
    )
    search.put(
        TABLE,
        (
            search.SearchText(id_, settings.CMS_ENV.default_locale, (alt, text, name, "\n".join(words)))
            for id_, alt, text, name, words in rows
        ),
    )
    if on_postgresql:
        # What waits to be checked would not let later migrations alter these tables.
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        schema_editor.execute("SET CONSTRAINTS ALL DEFERRED")


def forget_words(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute("DROP TRIGGER media_search_gone")
        schema_editor.execute("DROP TABLE media_searchentry_words")
    else:
        schema_editor.execute("DROP INDEX media_asset_categories")


class Migration(migrations.Migration):

    dependencies = [("media", "0004_variant_work_and_file_checks")]

    operations = [
        migrations.CreateModel(
            name="SearchEntry",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("asset", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="media.asset")),
            ],
        ),
        migrations.RunPython(keep_words, forget_words),
    ]
