from typing import ClassVar

from django.db import migrations


class Migration(migrations.Migration):
    dependencies: ClassVar = [("proofroom_webhooks", "0001_initial")]

    operations: ClassVar = [
        migrations.AlterModelOptions(
            name="workflowswitch",
            options={"verbose_name": "workflow", "verbose_name_plural": "workflows"},
        ),
    ]
