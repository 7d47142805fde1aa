from django.db import migrations, models

from proofroom.core.database.operations import AddIndexConcurrently


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('content', '0008_link_targets'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='post',
            index=models.Index(condition=models.Q(('deleted_at__isnull', False), ('variation_of__isnull', True)), fields=['path'], name='post_path_in_trash'),
        ),
    ]
