"""The credential that an AI client wrote with."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("content", "0010_tree_move")]

    operations = [
        migrations.AddField(
            model_name="provenance",
            name="principal",
            field=models.CharField(blank=True, default="", max_length=100),
        ),
    ]
