"""Heatmaps as lists of numbers, a row for each sheet and day, in place of a row for each cell."""

import django.db.models.deletion
from django.db import migrations, models

import analytics.models

CELLS = "analytics_heatcell"
BATCHES = "analytics_heatbatch"
LISTED = {"postgresql": "array_agg(cell)", "sqlite": "json_group_array(cell)"}
UNLISTED = {
    "postgresql": f"SELECT sheet_id, day, unnest(cells) AS cell FROM {BATCHES}",
    "sqlite": f"SELECT sheet_id, day, value AS cell FROM {BATCHES} CROSS JOIN json_each(cells)",
}
# Cells of a module are ten wide, those of a page a hundred; `down` is 1,000 where a click had no place in its module.
PLACED = f"""
    SELECT counted.sheet_id, counted.day, across, down, count AS hits, x_sum, y_sum,
        CASE WHEN sheet.module_id IN ('', '~') THEN 100 ELSE 10 END AS side,
        sheet.module_id NOT IN ('', '~') AND down = 1000 AS is_nowhere
    FROM {CELLS} AS counted JOIN analytics_heatsheet AS sheet ON sheet.id = counted.sheet_id
    WHERE count > 0 AND across BETWEEN 0 AND 127 AND down BETWEEN 0 AND 8191
"""
# What a number has no room for is divided among several of the same cell.
PACK = """
    INSERT INTO {batches} (sheet_id, day, last_event, cells)
    WITH RECURSIVE placed AS ({placed}), counted AS MATERIALIZED (
        SELECT sheet_id, day, (CAST(down AS bigint) << 7) | CAST(across AS bigint) AS place, CAST(hits AS bigint) AS hits,
            CASE WHEN is_nowhere THEN 0 WHEN x_sum < across * side * hits THEN 0
                WHEN x_sum > (across + 1) * side * hits THEN side * hits ELSE x_sum - across * side * hits END AS along,
            CASE WHEN is_nowhere THEN 0 WHEN y_sum < down * side * hits THEN 0
                WHEN y_sum > (down + 1) * side * hits THEN side * hits ELSE y_sum - down * side * hits END AS deep,
            (hits + 510) / 511 AS parts
        FROM placed
    ), part (number) AS (
        SELECT 0 UNION ALL SELECT number + 1 FROM part WHERE number + 1 < (SELECT max(parts) FROM counted)
    ), packed AS (
        SELECT sheet_id, day, (CAST(place AS bigint) << 41)
            | (CAST(hits / parts + CASE WHEN number < hits % parts THEN 1 ELSE 0 END AS bigint) << 32)
            | (CAST(along / parts + CASE WHEN number < along % parts THEN 1 ELSE 0 END AS bigint) << 16)
            | CAST(deep / parts + CASE WHEN number < deep % parts THEN 1 ELSE 0 END AS bigint) AS cell
        FROM counted JOIN part ON number < parts
    )
    SELECT sheet_id, day, 0, {listed} FROM packed GROUP BY sheet_id, day ORDER BY sheet_id, day
"""
UNPACK = """
    INSERT INTO {cells} (sheet_id, day, across, down, count, x_sum, y_sum)
    WITH hit AS ({unlisted}), summed AS (
        SELECT sheet_id, day, (cell >> 41) & 127 AS across, cell >> 48 AS down, sum((cell >> 32) & 511) AS hits,
            sum((cell >> 16) & 65535) AS along, sum(cell & 65535) AS deep
        FROM hit GROUP BY sheet_id, day, (cell >> 41) & 127, cell >> 48
    ), placed AS (
        SELECT summed.*, CASE WHEN sheet.module_id IN ('', '~') THEN 100 ELSE 10 END AS side,
            sheet.module_id NOT IN ('', '~') AND down = 1000 AS is_nowhere
        FROM summed JOIN analytics_heatsheet AS sheet ON sheet.id = summed.sheet_id
    )
    SELECT sheet_id, day, across, down, hits,
        CASE WHEN is_nowhere THEN 0 ELSE across * side * hits + along END,
        CASE WHEN is_nowhere THEN 0 ELSE down * side * hits + deep END
    FROM placed
"""


def pack(apps, schema_editor):
    listed = LISTED[schema_editor.connection.vendor]
    schema_editor.execute(PACK.format(batches=BATCHES, placed=PLACED, listed=listed), None)


def unpack(apps, schema_editor):
    unlisted = UNLISTED[schema_editor.connection.vendor]
    schema_editor.execute(UNPACK.format(cells=CELLS, unlisted=unlisted), None)


class Migration(migrations.Migration):

    dependencies = [
        ("analytics", "0002_partitions"),
    ]

    operations = [
        migrations.CreateModel(
            name="HeatBatch",
            fields=[
                ("pk", models.CompositePrimaryKey("sheet_id", "day", "last_event", blank=True, editable=False, primary_key=True, serialize=False)),
                ("day", models.DateField()),
                ("last_event", models.BigIntegerField()),
                ("cells", analytics.models.NumberList()),
                ("sheet", models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name="batches", to="analytics.heatsheet")),
            ],
        ),
        migrations.RunPython(pack, unpack),
        migrations.DeleteModel(name="HeatCell"),
    ]
