"""A content version says of which database it is: what is shared outside of it must not be taken for another's."""

from uuid import uuid4

from django.db import migrations, models

import proofroom.core.models


def name_epoch(apps, schema_editor):
    versions = apps.get_model("proofroom_core", "ContentVersion").objects
    versions.using(schema_editor.connection.alias).filter(epoch="").update(epoch=uuid4().hex)


class Migration(migrations.Migration):
    dependencies = [("proofroom_core", "0005_shared_views_stay")]

    operations = [
        migrations.AddField(
            model_name="contentversion",
            name="epoch",
            field=models.CharField(
                db_default="",
                default=proofroom.core.models.new_epoch,
                editable=False,
                max_length=32,
            ),
        ),
        migrations.RunPython(name_epoch, migrations.RunPython.noop),
    ]
