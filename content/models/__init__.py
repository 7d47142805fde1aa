"""The database models of content."""

from content.models.autosave import Autosave
from content.models.content_migration import ContentMigration
from content.models.decision_batch import BatchState, DecisionBatch, DecisionItem, DecisionOutcome
from content.models.draft import Draft, Layer
from content.models.edited_proposal import EditedProposal
from content.models.editing_mark import EditingMark
from content.models.field_value import FieldValue
from content.models.module import ModuleGroup, ModuleInstance, PostModule
from content.models.paths import TreeMove, UrlPattern
from content.models.post import (
    SCHEDULED,
    SHOWN_STATUSES,
    UNPUBLISHED,
    CopyOrigin,
    Post,
    PostAuthor,
    PostQuerySet,
    PostTerm,
    SearchEntry,
    SearchWord,
    Status,
    shown_status,
    status_label,
)
from content.models.post_check import AccessibilityReport, CheckedAddress, ContentLink
from content.models.post_job import JobKind, JobOutcome, PostJob, PostJobItem
from content.models.queued_change import QueuedChange
from content.models.rejected_change import RejectedChange
from content.models.replacement import ReplacedPlace, Replacement
from content.models.revision import Provenance, Revision
from content.models.scheduled_approval import ScheduledApproval
from proofroom.core.background_jobs.models import JobState

__all__ = [
    "SCHEDULED",
    "SHOWN_STATUSES",
    "UNPUBLISHED",
    "AccessibilityReport",
    "Autosave",
    "BatchState",
    "CheckedAddress",
    "ContentLink",
    "ContentMigration",
    "CopyOrigin",
    "DecisionBatch",
    "DecisionItem",
    "DecisionOutcome",
    "Draft",
    "EditedProposal",
    "EditingMark",
    "FieldValue",
    "JobKind",
    "JobOutcome",
    "JobState",
    "Layer",
    "ModuleGroup",
    "ModuleInstance",
    "Post",
    "PostAuthor",
    "PostJob",
    "PostJobItem",
    "PostModule",
    "PostQuerySet",
    "PostTerm",
    "Provenance",
    "QueuedChange",
    "RejectedChange",
    "ReplacedPlace",
    "Replacement",
    "Revision",
    "ScheduledApproval",
    "SearchEntry",
    "SearchWord",
    "Status",
    "TreeMove",
    "UrlPattern",
    "shown_status",
    "status_label",
]
