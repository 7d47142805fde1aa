import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ExportSchedule',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=60, unique=True)),
                ('options', models.JSONField(blank=True, default=dict)),
                ('every', models.CharField(choices=[('day', 'Every day'), ('week', 'Every week')], default='day', max_length=8)),
                ('weekday', models.PositiveSmallIntegerField(default=0)),
                ('hour', models.PositiveSmallIntegerField(default=3)),
                ('target', models.CharField(choices=[('site', 'On this site, to download'), ('folder', 'In the folder for exports')], default='site', max_length=8)),
                ('keep', models.PositiveSmallIntegerField(default=7)),
                ('next_at', models.DateTimeField(blank=True, db_index=True, null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'export schedule',
                'verbose_name_plural': 'export schedules',
                'ordering': ['name'],
                'constraints': [models.CheckConstraint(condition=models.Q(('hour__lte', 23), ('keep__gte', 1), ('weekday__lte', 6)), name='export_schedule_times')],
            },
        ),
        migrations.CreateModel(
            name='ImportedObject',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.SlugField(max_length=60)),
                ('scope', models.CharField(max_length=300)),
                ('kind', models.CharField(max_length=10)),
                ('key', models.CharField(max_length=64)),
                ('source_id', models.TextField()),
                ('object_id', models.UUIDField(db_index=True)),
                ('data', models.JSONField(blank=True, default=dict)),
                ('updated_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('source', 'scope', 'kind', 'key'), name='imported_object_once')],
            },
        ),
        migrations.CreateModel(
            name='ImportRun',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('state', models.CharField(choices=[('running', 'Running'), ('done', 'Done'), ('cancelled', 'Cancelled'), ('failed', 'Failed')], default='running', max_length=10)),
                ('why', models.TextField(blank=True, default='')),
                ('by_name', models.CharField(blank=True, default='', max_length=150)),
                ('language', models.CharField(blank=True, db_default='', default='', max_length=20)),
                ('attempts', models.PositiveSmallIntegerField(db_default=0, default=0)),
                ('touched_at', models.DateTimeField(auto_now=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('source', models.SlugField(max_length=60)),
                ('name', models.CharField(max_length=300)),
                ('scope', models.CharField(blank=True, default='', max_length=300)),
                ('options', models.JSONField(blank=True, default=dict)),
                ('is_dry_run', models.BooleanField(default=False)),
                ('is_export', models.BooleanField(default=False)),
                ('size', models.PositiveBigIntegerField(default=0)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('stage', models.PositiveSmallIntegerField(default=0)),
                ('position', models.PositiveIntegerField(default=0)),
                ('done', models.PositiveIntegerField(default=0)),
                ('planned', models.PositiveIntegerField(default=0)),
                ('counts', models.JSONField(blank=True, default=dict)),
                ('line_count', models.PositiveIntegerField(default=0)),
                ('via', models.CharField(default='command', max_length=10)),
                ('ended_at', models.DateTimeField(blank=True, db_column='finished_at', null=True)),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('schedule', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='runs', to='proofroom_imports.exportschedule')),
            ],
            options={
                'verbose_name': 'import',
                'verbose_name_plural': 'imports',
                'indexes': [models.Index(fields=['-created_at', 'id'], name='import_latest'), models.Index(condition=models.Q(('state', 'running')), fields=['touched_at'], name='import_running')],
            },
        ),
        migrations.CreateModel(
            name='ImportLine',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('severity', models.CharField(max_length=8)),
                ('kind', models.CharField(blank=True, default='', max_length=40)),
                ('outcome', models.CharField(blank=True, default='', max_length=12)),
                ('place', models.CharField(max_length=300)),
                ('message', models.TextField(blank=True, default='')),
                ('object_id', models.UUIDField(blank=True, null=True)),
                ('details', models.JSONField(blank=True, default=list)),
                ('is_conflict', models.BooleanField(default=False)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='lines', to='proofroom_imports.importrun')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='ImportChunk',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('content', models.BinaryField()),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='chunks', to='proofroom_imports.importrun')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('run', 'number'), name='import_chunk_once')],
            },
        ),
        migrations.CreateModel(
            name='ExportRun',
            fields=[
            ],
            options={
                'verbose_name': 'export',
                'verbose_name_plural': 'exports',
                'proxy': True,
                'indexes': [],
                'constraints': [],
            },
            bases=('proofroom_imports.importrun',),
        ),
    ]
