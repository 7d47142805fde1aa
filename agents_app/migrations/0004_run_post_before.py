from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agents_app", "0003_budget_notices")]

    operations = [
        migrations.AddField("runpost", "before", models.JSONField(null=True)),
        migrations.AddField("runpost", "paths", models.JSONField(default=list)),
    ]
