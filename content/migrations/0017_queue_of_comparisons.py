"""The queue says what comparisons find, and hashes of what was seen are keyed: its rows are made anew after `migrate`."""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models.functions import Substr


def forget_rows(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("content", "QueuedChange").objects.all().delete()


def shorten_hashes(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """On the way back: what was seen has no hash that the version before would know, and none that is too long."""
    forget_rows(apps, schema_editor)
    for name in ("DecisionItem", "RejectedChange"):
        apps.get_model("content", name).objects.update(seen=Substr("seen", 1, 20))


class Migration(migrations.Migration):
    dependencies = [("content", "0016_decision_batch")]

    operations = [
        migrations.RunPython(forget_rows, migrations.RunPython.noop),
        migrations.RemoveIndex(model_name="queuedchange", name="queued_twin"),
        migrations.RemoveField(model_name="queuedchange", name="twin"),
        migrations.RemoveField(model_name="queuedchange", name="before"),
        migrations.RemoveField(model_name="queuedchange", name="after"),
        migrations.RemoveField(model_name="queuedchange", name="is_outward"),
        migrations.RemoveField(model_name="queuedchange", name="reasons"),
        migrations.AddField(
            model_name="queuedchange", name="flags", field=models.JSONField(default=list)
        ),
        migrations.AddField(
            model_name="queuedchange", name="flags_live", field=models.JSONField(default=list)
        ),
        migrations.AddField(
            model_name="queuedchange", name="pieces", field=models.JSONField(default=list)
        ),
        migrations.AddField(
            model_name="queuedchange",
            name="risk_live",
            field=models.PositiveSmallIntegerField(default=1),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="queuedchange",
            name="proposed",
            field=models.CharField(default="", max_length=32),
            preserve_default=False,
        ),
        migrations.AlterField(
            model_name="queuedchange", name="seen", field=models.CharField(max_length=32)
        ),
        migrations.AlterField(
            model_name="decisionitem", name="seen", field=models.CharField(max_length=32)
        ),
        migrations.AlterField(
            model_name="rejectedchange", name="seen", field=models.CharField(max_length=32)
        ),
        migrations.RunPython(migrations.RunPython.noop, shorten_hashes),
    ]
