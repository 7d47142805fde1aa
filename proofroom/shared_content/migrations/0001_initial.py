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
            name='ApprovalRule',
            fields=[
                ('kind', models.CharField(max_length=20, primary_key=True, serialize=False)),
                ('mode', models.CharField(choices=[('off', 'Changes go live immediately'), ('editors', 'Administrators approve changes by editors'), ('everyone', 'A second person approves every change')], default='off', max_length=10)),
            ],
        ),
        migrations.CreateModel(
            name='SharedProposal',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(max_length=20)),
                ('row_id', models.UUIDField()),
                ('title', models.CharField(max_length=300)),
                ('base_version', models.PositiveIntegerField()),
                ('base', models.JSONField()),
                ('document', models.JSONField()),
                ('version', models.PositiveIntegerField(default=1)),
                ('writers', models.JSONField(default=list)),
                ('by_name', models.CharField(max_length=150)),
                ('state', models.CharField(choices=[('waiting', 'Waiting for approval'), ('approved', 'Approved'), ('rejected', 'Rejected'), ('withdrawn', 'Withdrawn')], default='waiting', max_length=10)),
                ('decided_by_name', models.CharField(blank=True, default='', max_length=150)),
                ('note', models.CharField(blank=True, default='', max_length=1000)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['state', 'updated_at'], name='shared_proposal_state')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state', 'waiting')), fields=('kind', 'row_id'), name='shared_proposal_waits_once')],
            },
        ),
        migrations.CreateModel(
            name='SharedRevision',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(max_length=20)),
                ('row_id', models.UUIDField()),
                ('version', models.PositiveIntegerField()),
                ('document', models.JSONField()),
                ('reason', models.CharField(max_length=40)),
                ('by_name', models.CharField(blank=True, default='', max_length=150)),
                ('approved_by_name', models.CharField(blank=True, default='', max_length=150)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, null=True)),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-version'],
                'constraints': [models.UniqueConstraint(fields=('kind', 'row_id', 'version'), name='shared_revision_once_per_version')],
            },
        ),
    ]
