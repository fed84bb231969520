"""``python -m quadsweep`` is the command line."""

import sys

from quadsweep.cli import main

sys.exit(main())
