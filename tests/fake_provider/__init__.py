"""A server that speaks the real protocols of model providers, streamed or not.

It answers with a test's script and records its requests.
"""

from tests.fake_provider.script import Asked, Call, FakeProvider, Reply
from tests.fake_provider.server import serving

__all__ = ["Asked", "Call", "FakeProvider", "Reply", "serving"]
