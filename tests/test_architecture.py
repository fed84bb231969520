"""docs/architecture.md is true: it lists the packages there are, and imports go downwards."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "quadsweep"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
EVERYONE = {"__version__"}

# What goes up, and why: a result draws itself, and each of these is one method's convenience.
ASKED_FOR_BY_NAME = {
    "plotting": "the picture is loaded when it is asked for",
    ("results", "choosing"): "Result.bootstrap",
}
AT_ONCE = {
    ("inputs", "datasets"): "a built-in data set is given like any table",
    ("paper", "plotting"): "the experiments draw the paper's figures",
}


def packages_by_row():
    """The first column of the page's first table, from the top."""
    table = PAGE[PAGE.index("| package |") :].split("\n\n")[0].splitlines()[2:]
    return [re.findall(r"`(\w+)(?:/|\.py)`", row.split("|")[1]) for row in table]


DEPTH = {package: depth for depth, row in enumerate(packages_by_row()) for package in row}


def test_every_package_stands_in_the_list_once():
    found = [package for row in packages_by_row() for package in row]
    packages = {
        path.name for path in SOURCE.iterdir() if path.is_dir() and path.name[0] not in "._"
    }
    files = {path.stem for path in SOURCE.glob("*.py")} - {"__init__", "__main__"}
    assert sorted(found) == sorted(packages - {"__pycache__"} | files | {"_core"})


@pytest.mark.parametrize(
    "package",
    [
        "auditing",
        "auditing/controls",
        "choosing",
        "cli",
        "distributed",
        "estimators",
        "inputs",
        "outofcore",
        "paper/experiments",
        "solving/methods",
    ],
)
def test_a_package_names_what_lives_in_it(package):
    said = ast.get_docstring(
        ast.parse((SOURCE / package / "__init__.py").read_text(encoding="utf-8"))
    )
    modules = {path.stem for path in (SOURCE / package).glob("*.py")} - {"__init__"}
    assert modules - set(re.findall(r"\w+", said)) == set()


def imports(tree, within=False):
    """(package, whether within a function) of every import of the package that is not for types."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            parts = node.module.split(".")
            names = parts[1:2] or [alias.name for alias in node.names]
        else:
            parts, names = ["quadsweep"], []
            if isinstance(node, ast.Import):
                paths = [alias.name.split(".") for alias in node.names]
                names = [path[1] for path in paths if path[0] == "quadsweep" and len(path) > 1]
        if parts[0] == "quadsweep":
            yield from ((name, within) for name in names)
        yield from imports(node, within or isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("package", sorted(set(DEPTH) - {"_core"}))
def test_imports_go_downwards(package):
    folder = SOURCE / package
    files = folder.rglob("*.py") if folder.is_dir() else [SOURCE / f"{package}.py"]
    for file in files:
        for other, within in imports(ast.parse(file.read_text(encoding="utf-8"))):
            if other in EVERYONE or DEPTH[other] >= DEPTH[package] or (package, other) in AT_ONCE:
                continue
            asked_for = within and not {other, (package, other)}.isdisjoint(ASKED_FOR_BY_NAME)
            assert asked_for, f"{file.relative_to(SOURCE)} imports {other}, above it"


def test_every_file_the_page_names_is_there():
    core = SOURCE / "_core"
    named = re.findall(r"`([\w./]+\.(?:py|pyi|cpp|hpp|md|csv|svg))`", PAGE)
    assert len(named) > 20
    places = [ROOT, SOURCE, core, core / "plane", ROOT / "tests", SOURCE / "solving" / "methods"]
    assert [n for n in named if not any((place / n).is_file() for place in places)] == []
