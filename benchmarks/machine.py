"""Descriptions of the machine, on which the figures depend."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def describe_machine() -> str:
    """Return processor, cores, memory and Python version."""
    names = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    memory = int(Path("/proc/meminfo").read_text().split()[1]) / 1024 / 1024
    model = names[0] if names else platform.machine()
    return f"{len(names)} cores ({model}), {memory:.0f} GB, Python {platform.python_version()}"


def describe_load() -> str:
    """Return the load of the machine in the last 15 minutes, with the benchmark's own."""
    return f"{os.getloadavg()[2]:.1f} processes at work on average at its end"
