"""The page's engine outside a page: questions asked of it through Node."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from quadsweep.report import live
from quadsweep.report.live import available
from quadsweep.report.shell import text_of

needs_engine = pytest.mark.skipif(not available(), reason="the engine was not built: make wasm")
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node here")

_RUN = Path(__file__).with_suffix(".js")


def ask(questions, folder):
    """One answer a question, from the page's own scripts."""
    scripts = "\n".join(map(text_of, ("live/engine.js", "live/questions.js", "live/table.js")))
    script = folder / "ask.js"
    script.write_text(scripts + _RUN.read_text(encoding="utf-8"), encoding="utf-8")
    wasm = Path(live.__file__).with_name("engine.wasm")
    asked = [
        {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in q.items()} for q in questions
    ]
    done = subprocess.run(
        ["node", str(script), str(wasm)],
        input=json.dumps(asked), capture_output=True, text=True, check=True, timeout=600,
    )  # fmt: skip
    return json.loads(done.stdout)
