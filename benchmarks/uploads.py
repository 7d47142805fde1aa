"""Uploads with their image sizes, next to Pillow and libvips alone: the same photos, in turns, in one run."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from PIL import Image

from benchmarks.cpu import cpu_of
from benchmarks.report import Report

if TYPE_CHECKING:
    from proofroom.core.actor import Actor

WIDTHS = {"large": 1600, "medium": 800, "small": 400}
_QUALITY = 82


@dataclass(frozen=True, slots=True)
class Taken:
    """Milliseconds of each way for one photo; None if it is not available.

    `ratio`: CPU time of upload and worker together, relative to Pillow alone for the same files.
    """

    photo: str
    upload: float
    worker: float
    pillow: float
    vips: float | None
    ratio: float


def photo(size: tuple[int, int]) -> bytes:
    """Return a JPEG with the detail of a photo, always the same."""
    coarse = [Image.effect_noise((size[0] // 8, size[1] // 8), 90) for _ in range(3)]
    smooth = Image.merge("RGB", [one.resize(size, Image.Resampling.BICUBIC) for one in coarse])
    out = BytesIO()
    smooth.save(out, "JPEG", quality=90)
    return out.getvalue()


def measure(photos: Mapping[str, tuple[int, int]], rounds: int) -> list[Taken]:
    """Return the medians of the rounds. Each round runs every way once."""
    from media.services import variants
    from proofroom.accounts.models import User
    from proofroom.core.actor import Actor

    user = User.objects.create_user("bench@example.com", None, username="bench", role="admin")
    # The worker's part is measured separately.
    variants.wake_renderer = lambda asset_id, theme: (
        None
    )  # the worker's part is measured on its own
    actor = Actor(user=user, via="command")
    return [_measure_photo(name, photo(size), rounds, actor) for name, size in photos.items()]


def _measure_photo(name: str, content: bytes, rounds: int, actor: Actor) -> Taken:
    ways: dict[str, Callable[[], object]] = {
        "upload": lambda: _upload(content, actor),
        "worker": _work,
        "pillow": lambda: _pillow(content),
    }
    if shutil.which("vipsthumbnail") is not None:
        ways["vips"] = lambda: _vips(content)
    times: dict[str, list[float]] = {way: [] for way in ways}
    ratios = []
    for _ in range(rounds):
        cpu = {}
        for way, work in ways.items():
            cpu[way] = cpu_of(lambda way=way, work=work: times[way].append(_seconds(work)))  # type: ignore[misc]
        ratios.append((cpu["upload"] + cpu["worker"]) / cpu["pillow"])
    middle = {way: 1000 * median(values) for way, values in times.items()}
    return Taken(
        name, middle["upload"], middle["worker"], middle["pillow"], middle.get("vips"), median(ratios)
    )  # fmt: skip


def _upload(content: bytes, actor: Actor) -> None:
    from media.services.files import store_image

    store_image(file=BytesIO(content), filename="a.jpg", actor=actor)


def _work() -> None:
    from media.models import VariantWork
    from media.render_variants import make_variants

    work = VariantWork.objects.latest("pk")
    assert make_variants(work.asset_id, work.theme)


def _seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def _pillow(content: bytes) -> None:
    """Write the three sizes as WebP files, without checks, rows and a cleaned original."""
    with TemporaryDirectory() as folder:
        image = Image.open(BytesIO(content))
        image.draft("RGB", (2 * max(WIDTHS.values()), 1))
        resized = image.convert("RGB")
        for name, width in WIDTHS.items():
            if resized.width > width:
                height = round(resized.height * width / resized.width)
                resized = resized.resize(
                    (width, height), Image.Resampling.LANCZOS, reducing_gap=2.0
                )
            resized.save(Path(folder) / f"{name}.webp", quality=_QUALITY, method=4)


def _vips(content: bytes) -> None:
    with TemporaryDirectory() as folder:
        source = Path(folder) / "a.jpg"
        source.write_bytes(content)
        for name, width in WIDTHS.items():
            target = f"{folder}/{name}.webp[Q={_QUALITY}]"
            command = ["vipsthumbnail", str(source), "--size", f"{width}x>", "-o", target]
            subprocess.run(command, check=True)


def show(found: list[Taken], report: Report) -> None:
    for one in found:
        report.ratios[f"photo of {one.photo}"] = one.ratio
    report.show_table(
        ("photo", "upload ms", "worker ms", "Pillow alone ms", "CPU, both of Pillow", "libvips ms"),
        [
            (
                one.photo, f"{one.upload:.0f}", f"{one.worker:.0f}", f"{one.pillow:.0f}",
                f"{one.ratio:.2f}", "not here" if one.vips is None else f"{one.vips:.0f}",
            )
            for one in found
        ],
    )  # fmt: skip
