from django.db import migrations

BATCH = 500


def move_revisions(apps, schema_editor):
    """Revisions of global modules stand where those of menus and terms do."""
    revisions = apps.get_model('proofroom_shared_content', 'SharedRevision')
    made = []
    for row in apps.get_model('content', 'ModuleRevision').objects.order_by('pk').iterator(BATCH):
        made.append(
            revisions(
                id=row.pk,
                kind='global-module',
                row_id=row.instance_id,
                version=row.version,
                document={'label': row.label, 'props': row.props},
                reason=row.reason,
                by_id=row.by_id,
                by_name=row.by_name,
            )
        )
        made[-1]._made_at = row.created_at
        if len(made) == BATCH:
            store(revisions, made)
            made = []
    store(revisions, made)


def store(revisions, made):
    revisions.objects.bulk_create(made)
    # The column takes the moment of the insert by itself.
    for row in made:
        row.created_at = row._made_at
    revisions.objects.bulk_update(made, ['created_at'], batch_size=100)


def move_back(apps, schema_editor):
    kept = apps.get_model('content', 'ModuleRevision')
    instances = set(apps.get_model('content', 'ModuleInstance').objects.values_list('pk', flat=True))
    rows = apps.get_model('proofroom_shared_content', 'SharedRevision').objects.filter(kind='global-module')
    made, moments = [], []
    for row in rows.iterator(BATCH):
        if row.row_id in instances:
            made.append(
                kept(
                    id=row.pk,
                    instance_id=row.row_id,
                    version=row.version,
                    label=row.document['label'],
                    props=row.document['props'],
                    reason=row.reason,
                    by_id=row.by_id,
                    by_name=row.by_name,
                )
            )
            moments.append(row.created_at)
    kept.objects.bulk_create(made, batch_size=BATCH)
    # The column takes the moment of the insert by itself. Of some states nobody knows when they were made.
    dated = []
    for row, moment in zip(made, moments, strict=True):
        if moment is not None:
            row.created_at = moment
            dated.append(row)
    kept.objects.bulk_update(dated, ['created_at'], batch_size=100)
    rows.delete()


class Migration(migrations.Migration):

    dependencies = [
        ('content', '0008_slug_below_parent'),
        ('proofroom_shared_content', '0001_revisions'),
    ]

    operations = [
        migrations.RunPython(move_revisions, move_back),
    ]
