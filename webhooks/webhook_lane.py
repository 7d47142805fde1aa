"""The lane of each webhook: its address, its headers, its secret."""

from __future__ import annotations

from webhooks.bodies import body_of
from webhooks.lanes import GivenUp, Outgoing
from webhooks.models import Delivery
from webhooks.signing import keys_of


class WebhookLane:
    def request_of(self, delivery: Delivery) -> Outgoing:
        webhook = delivery.webhook
        if webhook is None:
            raise GivenUp("The webhook was deleted.")
        return Outgoing(
            url=webhook.url,
            headers=webhook.headers,
            body=body_of(delivery),
            secrets=(webhook.secret, webhook.previous_secret),
            keys=keys_of(webhook),
        )
