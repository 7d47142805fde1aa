from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('content', '0007_field_values'),
    ]

    operations = [
        migrations.AddField(
            model_name='contentlink',
            name='target_id',
            field=models.UUIDField(null=True),
        ),
    ]
