"""Workflows are files: `workflows/<id>.yaml`, `.yml` or `.json` in any installed app, and in CMS_WORKFLOWS_DIR.

`core.definition_files` says how files are found and what becomes of broken ones.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from django.conf import settings

from core.definition_files import DefinitionFiles, from_json, from_yaml
from webhooks.automation.schema import WorkflowDefinition


def _further() -> Path | None:
    folder: Path | None = settings.CMS_ENV.cms_workflows_dir
    return folder


FILES: Final = DefinitionFiles(
    "workflows",
    WorkflowDefinition,
    {".yaml": from_yaml, ".yml": from_yaml, ".json": from_json},
    _further,
)
get_workflow = FILES.get
catalogue = FILES.catalogue
reload = FILES.reload


def all_workflows() -> list[WorkflowDefinition]:
    """In ascending order; switched-off ones too."""
    return sorted(FILES.all(), key=lambda workflow: (workflow.order, workflow.id))
