"""How the guide is built: ``make docs``."""

import sys
from pathlib import Path

import quadsweep
from quadsweep.exploring import playground

sys.path.insert(0, str(Path(__file__).parent))

project = "quadsweep"
copyright = "the quadsweep developers, MIT licence"
release = quadsweep.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
    "mathml",
]
templates_path = ["_templates"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "gallery/README.rst", "gallery/*.py"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
html_math_renderer = "mathml"
html_theme = "furo"
html_title = f"quadsweep {release}"
html_extra_path = ["_extra"]
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_ivar = True
nitpicky = False
# ref.python: an attribute in a docstring is looked up in all classes, and several have its name.
suppress_warnings = ["config.cache", "toc.not_included", "toc.empty_glob", "ref.python"]
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "show_memory": False,
    "write_computation_times": False,
    "download_all_examples": False,
    "backreferences_dir": None,
    "within_subsection_order": "FileNameSortKey",
}


extra = Path(__file__).parent / "_extra"
extra.mkdir(exist_ok=True)
(extra / "playground-page.html").write_text(playground(), encoding="utf-8")


def setup(app):
    """Docstrings that scikit-learn passes on refer to its own gallery: left out here."""

    def without_gallery(app, what, name, obj, options, lines):
        lines[:] = [line for line in lines if "sphx_glr_" not in line]

    app.connect("autodoc-process-docstring", without_gallery)
