from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('content', '0009_shared_revisions'),
    ]

    operations = [
        migrations.DeleteModel(
            name='ModuleRevision',
        ),
    ]
