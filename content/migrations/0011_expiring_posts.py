from django.db import migrations, models

from proofroom.core.database.operations import AddIndexConcurrently


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('content', '0010_dates'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='post',
            index=models.Index(condition=models.Q(('unpublish_at__isnull', False)), fields=['unpublish_at'], name='post_expiring'),
        ),
    ]
