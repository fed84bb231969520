"""The page that solves: the engine compiled for WebAssembly, and what the reader does with it.

``interface.cpp`` and ``engine.js`` are the two sides of the engine, ``questions.js`` what the
worker is asked, the other scripts the page. ``page.py`` puts them into one file that asks nothing
of the network. Where the engine was not built (``make wasm``), ``available()`` is False and a
report shows the answers that Python put on it.
"""

from quadsweep.report.live.page import Table, available, explore_page, fragments

__all__ = ["Table", "available", "explore_page", "fragments"]
