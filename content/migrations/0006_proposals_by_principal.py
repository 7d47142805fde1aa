from django.db import migrations, models

from proofroom.core.database.operations import AddIndexConcurrently


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ('content', '0005_proposers_of_rejected_changes'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='provenance',
            index=models.Index(fields=['principal', '-created_at'], name='provenance_of_principal'),
        ),
        AddIndexConcurrently(
            model_name='rejectedchange',
            index=models.Index(fields=['principal', '-created_at'], name='rejected_of_principal'),
        ),
    ]
