"""One page that shows the answer, how it depends on k, and what to be careful about.

``content.py`` computes, ``page.py`` writes; ``shell.py`` puts the page into one file that asks
nothing of the network. Its picture and its controls are in ``live/``. Imports the questions it asks
(solving, choosing, auditing, the paper); never opens a file or a browser.
"""

from quadsweep.report.content import Report, gather
from quadsweep.report.page import to_html

__all__ = ["Report", "gather", "to_html"]
