import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('content', '0003_post_checks'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ReviewerLink',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('layer', models.CharField(choices=[('review', 'Review'), ('ai-review', 'Ai Review')], max_length=10)),
                ('name', models.CharField(max_length=100)),
                ('digest', models.TextField()),
                ('paths', models.JSONField()),
                ('token_hash', models.CharField(max_length=64, unique=True)),
                ('expires_at', models.DateTimeField()),
                ('revoked_at', models.DateTimeField(null=True)),
                ('created_by_name', models.CharField(max_length=150)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('post', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reviewer_links', to='content.post')),
            ],
        ),
        migrations.CreateModel(
            name='ReviewerAdvice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('path', models.CharField(max_length=320)),
                ('fingerprint', models.CharField(max_length=32)),
                ('label', models.TextField()),
                ('verdict', models.CharField(blank=True, choices=[('yes', 'Yes'), ('no', 'No')], max_length=3)),
                ('comment', models.TextField(blank=True, max_length=2000)),
                ('given_at', models.DateTimeField()),
                ('link', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='advice', to='proofroom_reviewers.reviewerlink')),
            ],
        ),
        migrations.AddIndex(
            model_name='reviewerlink',
            index=models.Index(fields=['post', '-created_at'], name='reviewer_link_of_post'),
        ),
        migrations.AddIndex(
            model_name='reviewerlink',
            index=models.Index(fields=['expires_at'], name='reviewer_link_expires'),
        ),
        migrations.AddConstraint(
            model_name='revieweradvice',
            constraint=models.UniqueConstraint(fields=('link', 'path'), name='reviewer_advice_once'),
        ),
    ]
