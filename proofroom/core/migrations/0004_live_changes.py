import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("proofroom_core", "0003_event_forgotten_at_help"),
    ]

    operations = [
        migrations.CreateModel(
            name="LiveChange",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("tag", models.CharField(max_length=200)),
                ("path", models.CharField(max_length=2000, null=True)),
                ("is_gone", models.BooleanField(default=False)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                "indexes": [models.Index(fields=["at"], name="live_change_at")],
            },
        ),
    ]
