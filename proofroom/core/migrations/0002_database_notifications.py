"""Let PostgreSQL notify the processes that follow events and the content version, without a statement by the writer."""

from django.db import migrations

NOTIFICATIONS = (
    ("proofroom_core_event", "INSERT", "events"),
    ("proofroom_core_contentversion", "INSERT OR UPDATE", "content_version"),
)


def create_triggers(apps, schema_editor):
    if schema_editor.connection.vendor != "postgresql":
        return
    schema_editor.execute(
        "CREATE FUNCTION proofroom_notify() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN PERFORM pg_notify(TG_ARGV[0], ''); RETURN NULL; END $$"
    )
    for table, operations, channel in NOTIFICATIONS:
        schema_editor.execute(
            f"CREATE TRIGGER {table}_notify AFTER {operations} ON {table} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION proofroom_notify('{channel}')"
        )


def drop_triggers(apps, schema_editor):
    if schema_editor.connection.vendor != "postgresql":
        return
    for table, _, _ in NOTIFICATIONS:
        schema_editor.execute(f"DROP TRIGGER {table}_notify ON {table}")
    schema_editor.execute("DROP FUNCTION proofroom_notify()")


class Migration(migrations.Migration):
    dependencies = [("proofroom_core", "0001_initial")]

    operations = [migrations.RunPython(create_triggers, drop_triggers)]
