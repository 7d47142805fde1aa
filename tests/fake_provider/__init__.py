"""A server that speaks like the providers of models, each over its real wire, streamed or not.

It answers with what a test scripted and keeps what it was asked.
"""

from tests.fake_provider.script import Asked, Call, FakeProvider, Reply
from tests.fake_provider.server import serving

__all__ = ["Asked", "Call", "FakeProvider", "Reply", "serving"]
