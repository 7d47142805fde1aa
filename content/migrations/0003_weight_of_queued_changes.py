"""The risk that holds for a waiting change, as a column in the order of the inbox."""

from django.db import migrations, models
from django.db.models import Case, Exists, F, OuterRef, When


def fill_weights(apps, schema_editor):
    rows = apps.get_model("content", "QueuedChange").objects.using(schema_editor.connection.alias)
    posts = apps.get_model("content", "Post").objects.filter(pk=OuterRef("post_id"))
    is_published = Exists(posts.filter(status="published"))
    # Each row once: PostgreSQL checks the keys of one that is written twice at the commit, and makes no index before.
    rows.update(weight=Case(When(is_published, then=F("risk_live")), default=F("risk")))


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
