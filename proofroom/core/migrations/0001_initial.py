import django.db.models.deletion
import django.utils.timezone
import proofroom.core.models
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
            name='ContentVersion',
            fields=[
                ('id', models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('number', models.PositiveBigIntegerField(default=1)),
                ('moved_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('changes', models.TextField(blank=True, default='')),
                ('epoch', models.CharField(db_default='', default=proofroom.core.models.new_epoch, editable=False, max_length=32)),
            ],
        ),
        migrations.CreateModel(
            name='QueueFailure',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('error', models.CharField(max_length=100, unique=True)),
                ('text', models.CharField(max_length=500)),
                ('since', models.DateTimeField()),
                ('failed_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='ScheduledTask',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True)),
                ('done_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('name', models.CharField(max_length=60)),
                ('version', models.PositiveSmallIntegerField(default=1, help_text="Of the payload's shape.")),
                ('post_id', models.UUIDField(blank=True, null=True)),
                ('payload', models.JSONField(default=dict)),
                ('actor_name', models.CharField(blank=True, help_text='What it was called then.', max_length=150)),
                ('via', models.CharField(max_length=10)),
                ('credential', models.CharField(blank=True, help_text='The token or client that came through the door.', max_length=100)),
                ('agent_id', models.CharField(blank=True, max_length=80)),
                ('run_id', models.CharField(blank=True, max_length=40)),
                ('hop', models.PositiveSmallIntegerField(default=0)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('forgotten_at', models.DateTimeField(blank=True, help_text='When its words were deleted, as whoever wrote them may ask.', null=True)),
                ('dispatched_at', models.DateTimeField(blank=True, null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('next_at', models.DateTimeField(blank=True, null=True)),
                ('told', models.JSONField(default=list)),
                ('is_sealed', models.BooleanField(default=False, help_text='Whether the chain of the log has it.')),
                ('actor', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('cause', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='proofroom_core.event')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('dispatched_at__isnull', True)), fields=['id'], name='event_waiting'), models.Index(condition=models.Q(('dispatched_at__isnull', True)), fields=['post_id', 'id'], name='event_waiting_of_post'), models.Index(condition=models.Q(('is_sealed', False)), fields=['id'], name='event_unsealed'), models.Index(fields=['post_id', 'id'], name='event_of_post'), models.Index(fields=['name', 'id'], name='event_of_name'), models.Index(fields=['actor', 'id'], name='event_of_actor'), models.Index(fields=['created_at'], name='event_at')],
            },
        ),
        migrations.CreateModel(
            name='ListView',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('list_name', models.CharField(max_length=100)),
                ('name', models.CharField(blank=True, max_length=60)),
                ('query', models.CharField(blank=True, max_length=1500)),
                ('columns', models.JSONField(default=list)),
                ('is_shared', models.BooleanField(default=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('opens', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='proofroom_core.listview')),
                ('owner', models.ForeignKey(null=True, on_delete=proofroom.core.models.keep_shared_views, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('owner', 'list_name', 'name'), name='list_view_own_name'), models.UniqueConstraint(condition=models.Q(('is_shared', True)), fields=('list_name', 'name'), name='list_view_shared_name')],
            },
        ),
        migrations.CreateModel(
            name='Seal',
            fields=[
                ('seq', models.PositiveBigIntegerField(primary_key=True, serialize=False)),
                ('facts', models.CharField(max_length=64)),
                ('payload', models.CharField(max_length=64)),
                ('salt', models.CharField(blank=True, max_length=32)),
                ('before', models.CharField(max_length=64)),
                ('hash', models.CharField(max_length=64)),
                ('made_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('event', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='seal', to='proofroom_core.event')),
            ],
        ),
    ]
