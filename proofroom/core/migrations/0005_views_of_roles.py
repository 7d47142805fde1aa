from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('proofroom_core', '0004_live_changes'),
    ]

    operations = [
        migrations.AddField(
            model_name='listview',
            name='role',
            field=models.CharField(blank=True, db_default='', default='', max_length=60),
        ),
    ]
