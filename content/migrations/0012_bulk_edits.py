from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('content', '0011_expiring_posts'),
    ]

    operations = [
        migrations.AddField(
            model_name='postjob',
            name='edit',
            field=models.JSONField(null=True),
        ),
        migrations.AlterField(
            model_name='postjob',
            name='kind',
            field=models.CharField(choices=[('copy', 'Copy'), ('publish', 'Publish'), ('unpublish', 'Unpublish'), ('archive', 'Archive'), ('delete', 'Delete'), ('edit', 'Edit')], max_length=10),
        ),
    ]
