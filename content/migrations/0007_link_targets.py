from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('content', '0006_proposals_by_principal'),
    ]

    operations = [
        migrations.AddField(
            model_name='contentlink',
            name='target_id',
            field=models.UUIDField(null=True),
        ),
    ]
