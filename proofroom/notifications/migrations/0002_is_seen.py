from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('proofroom_notifications', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='notification',
            name='is_seen',
            field=models.BooleanField(default=False),
        ),
    ]
