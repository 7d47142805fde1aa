from django.db import migrations, models

from proofroom.core.database.operations import AddIndexConcurrently


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('content', '0013_authors_and_page_locks'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='post',
            index=models.Index(condition=models.Q(('locked_by__isnull', False)), fields=['locked_by'], name='post_locked'),
        ),
    ]
