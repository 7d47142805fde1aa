from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [("content", "0004_url_pattern")]

    operations = []
