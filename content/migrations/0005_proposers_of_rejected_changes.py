from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('content', '0004_edited_proposals'),
    ]

    operations = [
        migrations.AddField(
            model_name='rejectedchange',
            name='agent_id',
            field=models.CharField(blank=True, db_default='', default='', max_length=80),
        ),
        migrations.AddField(
            model_name='rejectedchange',
            name='principal',
            field=models.CharField(blank=True, db_default='', default='', max_length=100),
        ),
    ]
