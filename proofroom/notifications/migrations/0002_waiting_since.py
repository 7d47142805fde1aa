from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('proofroom_notifications', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='notification',
            name='waiting_since',
            field=models.DateTimeField(null=True),
        ),
        migrations.AlterField(
            model_name='notificationchoice',
            name='channel',
            field=models.CharField(choices=[('off', 'Off'), ('admin', 'In the admin'), ('daily', 'In the admin and in a daily email'), ('mail', 'In the admin and by email at once')], max_length=5),
        ),
    ]
