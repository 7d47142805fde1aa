import django.utils.timezone
from django.db import migrations, models


def forget_dates(apps, schema_editor):
    """The state before the first recorded change bore the date of that change, which is not its own."""
    revisions = apps.get_model('proofroom_shared_content', 'SharedRevision')
    revisions.objects.filter(reason='before').update(created_at=None)


def set_dates(apps, schema_editor):
    revisions = apps.get_model('proofroom_shared_content', 'SharedRevision')
    revisions.objects.filter(created_at=None).update(created_at=django.utils.timezone.now())


class Migration(migrations.Migration):

    dependencies = [
        ('proofroom_shared_content', '0002_proposals'),
    ]

    operations = [
        migrations.AlterField(
            model_name='sharedrevision',
            name='created_at',
            field=models.DateTimeField(default=django.utils.timezone.now, null=True),
        ),
        migrations.RunPython(forget_dates, set_dates),
    ]
