from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [("content", "0006_preview_link")]

    operations = []
