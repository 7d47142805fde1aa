from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):

    dependencies = [
        ('webhooks', '0001_initial'),
    ]

    operations = [
        migrations.RemoveIndex(model_name='delivery', name='delivery_due'),
        migrations.RemoveIndex(model_name='delivery', name='delivery_of_post'),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=Q(('next_attempt_at__isnull', False)), fields=['lane', 'next_attempt_at', 'event'], name='delivery_due'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=Q(('next_attempt_at__isnull', False)), fields=['lane', 'post_id', 'event'], name='delivery_of_post'),
        ),
    ]
