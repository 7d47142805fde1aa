"""Partition views and clicks by month on PostgreSQL.

`migrate` creates the partitions of the months at its end (`analytics.partitions`).
"""

from django.db import migrations

TABLE = "analytics_analyticsevent"
SEQUENCE = f"{TABLE}_id_seq"
PLAIN = "analytics_event_plain"
PARTITIONED = "analytics_event_partitioned"
PARTITION = [
    f"ALTER TABLE {TABLE} RENAME TO {PLAIN}",
    f"ALTER TABLE {PLAIN} RENAME CONSTRAINT {TABLE}_pkey TO {PLAIN}_pkey",
    f"ALTER SEQUENCE {SEQUENCE} RENAME TO {PLAIN}_seq",
    f"CREATE TABLE {TABLE} (LIKE {PLAIN} INCLUDING DEFAULTS INCLUDING CONSTRAINTS) PARTITION BY RANGE (created_at)",
    f"CREATE SEQUENCE {SEQUENCE} OWNED BY {TABLE}.id",
    f"ALTER TABLE {TABLE} ALTER COLUMN id SET DEFAULT nextval('{SEQUENCE}')",
    f"ALTER TABLE {TABLE} ADD PRIMARY KEY (id, created_at)",
    # Rows go into the partition for what has no month yet. The months are created after `migrate`, and take theirs.
    f"CREATE TABLE analytics_event_rest PARTITION OF {TABLE} DEFAULT",
    f"INSERT INTO {TABLE} SELECT * FROM {PLAIN}",  # noqa: S608  # our own names
    f"SELECT setval('{SEQUENCE}', last_value, is_called) FROM {PLAIN}_seq",  # noqa: S608
    f"DROP TABLE {PLAIN}",
]
RENAME_BACK = [
    f"ALTER TABLE {TABLE} RENAME TO {PARTITIONED}",
    f"ALTER TABLE {PARTITIONED} RENAME CONSTRAINT {TABLE}_pkey TO {PARTITIONED}_pkey",
    f"ALTER SEQUENCE {SEQUENCE} RENAME TO {PARTITIONED}_seq",
    "DROP INDEX analytics_when",
]
COPY_BACK = [
    f"INSERT INTO {TABLE} ({{columns}}) SELECT {{columns}} FROM {PARTITIONED}",  # noqa: S608  # our own names
    f"SELECT setval('{SEQUENCE}', last_value, is_called) FROM {PARTITIONED}_seq",  # noqa: S608
    f"DROP TABLE {PARTITIONED}",
]


def partition(apps, schema_editor):
    """Replace the table, and create its index again, which went with it."""
    if schema_editor.connection.vendor != "postgresql":
        return
    for statement in PARTITION:
        schema_editor.execute(statement)
    event = apps.get_model("analytics", "AnalyticsEvent")
    for index in event._meta.indexes:
        schema_editor.add_index(event, index)


def merge(apps, schema_editor):
    """Return to one plain table with all rows and the same ids."""
    if schema_editor.connection.vendor != "postgresql":
        return
    for statement in RENAME_BACK:
        schema_editor.execute(statement)
    event = apps.get_model("analytics", "AnalyticsEvent")
    schema_editor.create_model(event)
    columns = ", ".join(field.column for field in event._meta.concrete_fields)
    for statement in COPY_BACK:
        schema_editor.execute(statement.format(columns=columns))


class Migration(migrations.Migration):
    dependencies = [("analytics", "0001_initial")]

    operations = [migrations.RunPython(partition, merge)]
