"""What the documents show is what the package prints."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_examples_print_what_they_say(document):
    failed, _ = doctest.testfile(str(document), module_relative=False, encoding="utf-8")
    assert failed == 0


def test_every_compiled_file_is_in_the_table_of_its_folder():
    core = ROOT / "src" / "quadsweep" / "_core"
    page = (core / "README.md").read_text(encoding="utf-8")
    folders = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    files = [f for f in core.glob("*/*.?pp") if f.parent.name != "wasm"]
    assert len(files) > 60
    assert [f for f in files if not re.search(rf"`{f.stem}[`.]", folders[f.parent.name])] == []
