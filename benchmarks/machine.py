"""What the figures depend on: the machine."""

from __future__ import annotations

import platform
from pathlib import Path


def describe_machine() -> str:
    """Processor, cores, memory, Python: what the figures depend on."""
    names = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    memory = int(Path("/proc/meminfo").read_text().split()[1]) / 1024 / 1024
    model = names[0] if names else platform.machine()
    return f"{len(names)} cores ({model}), {memory:.0f} GB, Python {platform.python_version()}"
