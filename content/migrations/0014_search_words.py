"""The words that a search suggests; on PostgreSQL found by their trigrams, where the role may have the extension."""

from django.db import DatabaseError, migrations, models, transaction

INDEX = "CREATE INDEX content_searchword_trigrams ON content_searchword USING gin (word gin_trgm_ops)"


def make_trigrams(apps, schema_editor):
    connection = schema_editor.connection
    if connection.vendor != "postgresql":
        return
    try:
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            # Trusted since PostgreSQL 13: whoever may create in the database may have it.
            cursor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
            cursor.execute(INDEX)
    except DatabaseError:
        # It is not installed on the server, or not allowed. Words with the same first letter are compared then.
        return


def drop_trigrams(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP INDEX IF EXISTS content_searchword_trigrams")


class Migration(migrations.Migration):
    dependencies = [("content", "0013_untranslated_texts")]

    operations = [
        migrations.CreateModel(
            name="SearchWord",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("locale", models.CharField(max_length=20)),
                ("beginning", models.CharField(max_length=1)),
                ("word", models.CharField(max_length=64)),
                ("posts", models.PositiveIntegerField()),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["locale", "beginning", "-posts"], name="search_word_beginning"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("locale", "word"), name="search_word")
                ],
            },
        ),
        migrations.RunPython(make_trigrams, drop_trigrams),
    ]
