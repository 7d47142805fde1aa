"""The page type: the fields of a post, and its five modules as blocks of a stream field."""

from __future__ import annotations

from django.db import models
from wagtail import blocks
from wagtail.admin.panels import FieldPanel
from wagtail.api import APIField
from wagtail.fields import StreamField
from wagtail.models import Page


class Feature(blocks.StructBlock):
    icon = blocks.CharBlock()
    title = blocks.CharBlock()
    text = blocks.TextBlock()


class Question(blocks.StructBlock):
    question = blocks.CharBlock()
    answer = blocks.RichTextBlock()


class Hero(blocks.StructBlock):
    title = blocks.CharBlock()
    subtitle = blocks.CharBlock()
    link_label = blocks.CharBlock()
    link_url = blocks.CharBlock()


class Features(blocks.StructBlock):
    heading = blocks.CharBlock()
    items = blocks.ListBlock(Feature())


class Questions(blocks.StructBlock):
    heading = blocks.CharBlock()
    items = blocks.ListBlock(Question())


class Callout(blocks.StructBlock):
    title = blocks.CharBlock()
    body = blocks.RichTextBlock()
    tone = blocks.CharBlock()


class ArticlePage(Page):
    excerpt = models.TextField()
    body = StreamField(
        [
            ("hero", Hero()),
            ("prose", blocks.RichTextBlock()),
            ("features", Features()),
            ("questions", Questions()),
            ("callout", Callout()),
        ]
    )

    content_panels = [*Page.content_panels, FieldPanel("excerpt"), FieldPanel("body")]
    api_fields = [APIField("excerpt"), APIField("body")]
