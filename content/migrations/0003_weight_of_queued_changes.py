"""The risk that holds for a waiting change, as a column in the order of the inbox."""

from django.db import migrations, models
from django.db.models import F


def fill_weights(apps, schema_editor):
    rows = apps.get_model("content", "QueuedChange").objects.using(schema_editor.connection.alias)
    published = apps.get_model("content", "Post").objects.filter(status="published")
    rows.update(weight=F("risk"))
    rows.filter(post__in=published).update(weight=F("risk_live"))


class Migration(migrations.Migration):
    dependencies = [("content", "0002_search")]

    operations = [
        migrations.AddField(
            model_name="queuedchange",
            name="weight",
            field=models.PositiveSmallIntegerField(default=1),
            preserve_default=False,
        ),
        migrations.RunPython(fill_weights, migrations.RunPython.noop),
        migrations.RemoveIndex(model_name="queuedchange", name="queued_by_risk"),
        migrations.AddIndex(
            model_name="queuedchange",
            index=models.Index(fields=["-weight", "-at", "-id"], name="queued_by_weight"),
        ),
        migrations.AddIndex(
            model_name="queuedchange",
            index=models.Index(fields=["layer", "-weight", "-at", "-id"], name="queued_in_layer"),
        ),
    ]
