"""The layers of a post and the operations between them: stage, submit, approve, reject, revert, and the live write.

AI Review is layered on Review, and Review on live content. Agents and AI clients can only write to AI Review.
"""

from content.layers.approve import approve
from content.layers.reject import reject
from content.layers.revert import Before, revert_run, revert_to_revision, withdraw_run
from content.layers.stage import Staged, stage
from content.layers.submit import SubmitOutcome, submit
from content.layers.unstage import Unstaged, unstage
from content.store.digest import digest_of
from content.store.layer_state import (
    Layers,
    LayerView,
    check_version,
    lock_post,
    open_layers,
    open_layers_of_many,
)

__all__ = [
    "Before",
    "LayerView",
    "Layers",
    "Staged",
    "SubmitOutcome",
    "Unstaged",
    "approve",
    "check_version",
    "digest_of",
    "lock_post",
    "open_layers",
    "open_layers_of_many",
    "reject",
    "revert_run",
    "revert_to_revision",
    "stage",
    "submit",
    "unstage",
    "withdraw_run",
]
