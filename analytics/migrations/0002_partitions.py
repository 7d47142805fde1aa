"""Views and clicks in partitions, one a month, on PostgreSQL."""

from django.db import migrations

import analytics.models

TABLE = "analytics_analyticsevent"
SEQUENCE = f"{TABLE}_id_seq"
# All rows go into the partition for what has no month yet. After each `migrate` the months are made, and take theirs.
POSTGRESQL = [
    f"ALTER TABLE {TABLE} RENAME TO analytics_event_before",
    f"ALTER TABLE analytics_event_before RENAME CONSTRAINT {TABLE}_pkey TO analytics_event_before_pkey",
    f"ALTER SEQUENCE {SEQUENCE} RENAME TO analytics_event_before_seq",
    f"CREATE TABLE {TABLE} (LIKE analytics_event_before INCLUDING DEFAULTS INCLUDING CONSTRAINTS) "
    "PARTITION BY RANGE (created_at)",
    f"CREATE SEQUENCE {SEQUENCE} OWNED BY {TABLE}.id",
    f"ALTER TABLE {TABLE} ALTER COLUMN id SET DEFAULT nextval('{SEQUENCE}')",
    f"ALTER TABLE {TABLE} ADD PRIMARY KEY (id, created_at)",
    f"CREATE TABLE analytics_event_rest PARTITION OF {TABLE} DEFAULT",
    f"INSERT INTO {TABLE} SELECT * FROM analytics_event_before",  # noqa: S608  # names of our own
    f"SELECT setval('{SEQUENCE}', last_value, is_called) FROM analytics_event_before_seq",  # noqa: S608
    "DROP TABLE analytics_event_before",
]


BACK = [
    f"ALTER TABLE {TABLE} RENAME TO analytics_event_parted",
    f"ALTER TABLE analytics_event_parted RENAME CONSTRAINT {TABLE}_pkey TO analytics_event_parted_pkey",
    f"ALTER SEQUENCE {SEQUENCE} RENAME TO analytics_event_parted_seq",
]
BACK_ROWS = [
    "INSERT INTO {table} ({columns}) SELECT {columns} FROM analytics_event_parted",
    "SELECT setval('{table}_id_seq', last_value, is_called) FROM analytics_event_parted_seq",
    "DROP TABLE analytics_event_parted",
]


def part(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for statement in POSTGRESQL:
            schema_editor.execute(statement)


def join(apps, schema_editor):
    """One plain table again, with all rows and the same ids."""
    if schema_editor.connection.vendor != "postgresql":
        return
    for statement in BACK:
        schema_editor.execute(statement)
    event = apps.get_model("analytics", "AnalyticsEvent")
    schema_editor.create_model(event)
    columns = ", ".join(field.column for field in event._meta.concrete_fields)
    for statement in BACK_ROWS:
        schema_editor.execute(statement.format(table=TABLE, columns=columns))


class Migration(migrations.Migration):

    dependencies = [
        ("analytics", "0001_initial"),
    ]

    operations = [
        migrations.RunPython(part, join),
        migrations.AddIndex(
            model_name="analyticsevent",
            index=analytics.models.TimeIndex(fields=["created_at"], name="analytics_when"),
        ),
    ]
