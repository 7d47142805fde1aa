from typing import ClassVar

from django.db import migrations


class Migration(migrations.Migration):
    dependencies: ClassVar = [("agents_app", "0002_reaction_types")]

    operations: ClassVar = [
        migrations.AlterModelOptions(
            name="agentswitch",
            options={"verbose_name": "agent", "verbose_name_plural": "agents"},
        ),
    ]
