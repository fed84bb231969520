"""The compiled half and its stub say the same."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import quadsweep
from quadsweep import _core

STUB = Path(quadsweep.__file__).with_name("_core.pyi")


def public(names):
    return {name for name in names if not name.startswith("_")}


def stub() -> tuple[ast.Module, dict[str, list[str]]]:
    """What the stub says, and the keywords of its typed dictionaries."""
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    keywords: dict[str, list[str]] = {"TypedDict": []}
    for node in tree.body:
        bases = [b.id for b in getattr(node, "bases", []) if isinstance(b, ast.Name)]
        if bases and bases[0] in keywords:
            own = [n.target.id for n in node.body if isinstance(n, ast.AnnAssign)]
            keywords[node.name] = [*keywords[bases[0]], *own]
    return tree, keywords


def test_the_stub_declares_what_the_module_has():
    tree, keywords = stub()
    functions = {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}
    constants = {n.target.id for n in tree.body if isinstance(n, ast.AnnAssign)}
    classes = {n.name for n in tree.body if isinstance(n, ast.ClassDef)} - set(keywords)
    assert functions | constants | classes == public(dir(_core))


def test_the_stub_has_the_arguments_of_the_module():
    tree, keywords = stub()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            signature = getattr(_core, node.name).__nb_signature__[0][0]
            actual = re.findall(r"(\w+): ", signature)
            positional = [a.arg for a in node.args.args]
            assert positional == actual[: len(positional)], node.name
            named = [a.arg for a in node.args.kwonlyargs]
            if node.args.kwarg is not None:
                named += keywords[node.args.kwarg.annotation.slice.id]
            assert sorted(positional + named) == sorted(actual), node.name


def test_an_instruction_set_was_chosen():
    assert _core.instruction_set() in ("baseline", "avx2", "avx512")


def test_importing_the_package_imports_nothing_heavy():
    program = "import sys, quadsweep; print(*sorted(m for m in sys.modules if '.' not in m))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    heavy = {"scipy", "pandas", "polars", "matplotlib", "sklearn", "typer", "rich", "narwhals"}
    assert not heavy & set(done.stdout.split())
