"""What the documents show is what the package prints."""

import doctest
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_examples_print_what_they_say(document):
    failed, _ = doctest.testfile(str(document), module_relative=False, encoding="utf-8")
    assert failed == 0


def test_every_compiled_file_is_in_the_table_of_the_core():
    core = ROOT / "src" / "quadsweep" / "_core"
    table = (core / "README.md").read_text(encoding="utf-8")
    missing = {f.stem for f in core.glob("*.?pp") if f"`{f.stem}." not in table}
    assert not missing
