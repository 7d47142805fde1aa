import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('content', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Feedback',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('category', models.CharField(choices=[('comment', 'Comment'), ('copy', 'Copy'), ('bug', 'Bug'), ('feature', 'Feature')], default='comment', max_length=10)),
                ('content', models.TextField(max_length=5000)),
                ('x', models.FloatField(null=True)),
                ('y', models.FloatField(null=True)),
                ('element_selector', models.CharField(blank=True, max_length=500)),
                ('status', models.CharField(choices=[('pending', 'Pending'), ('resolved', 'Resolved')], default='pending', max_length=10)),
                ('resolved_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('author', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('post', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='feedback', to='content.post')),
                ('resolved_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'feedback',
                'verbose_name_plural': 'feedback',
                'indexes': [models.Index(fields=['post', '-created_at', '-id'], name='feedback_of_post'), models.Index(fields=['-created_at', '-id'], name='feedback_newest')],
                'constraints': [models.CheckConstraint(condition=models.Q(('status', 'resolved'), ('resolved_at__isnull', True), _connector='OR'), name='feedback_resolved_or_not')],
            },
        ),
    ]
