import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("core", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="contentversion",
            name="moved_at",
            field=models.DateTimeField(default=django.utils.timezone.now),
        ),
    ]
