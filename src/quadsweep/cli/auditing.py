"""``quadsweep audit``: on how few rows a finding depends."""

from __future__ import annotations

from quadsweep.cli.answering import answer
from quadsweep.cli.ending import BadInput
from quadsweep.cli.options import Given, command
from quadsweep.cli.outofcore import answer_source, source_of
from quadsweep.cli.points import read_points
from quadsweep.cli.regressions import FORMULA, answer_regression, is_regression, of_data_set

_DESIGN = "term controls groups weights"
_ANSWER = "label plot json time_limit jobs seed"


@command(
    f"x y claim level threshold max_drop formula {_DESIGN} vcov fixed_controls by {_ANSWER} proof "
    "memory_limit dask work resume",
    asks="auditing.audit:audit",
    formula=FORMULA,
)
def audit_command(given: Given) -> None:
    """The fewest rows whose removal changes the conclusion, proved.

    Example: quadsweep audit trial.csv --x dose --y effect --claim significance --plot trial.png

    Larger than memory: quadsweep audit 'logs/*.parquet' --x size --y seconds

    With controls: quadsweep audit wages.csv --formula "wage ~ educ + C(region)" --term educ

    Fixed effects: quadsweep audit wages.csv --formula "wage ~ educ | firm" --term educ --vcov firm
    """
    given = of_data_set(given)
    if is_regression(given):
        if given.by is not None:
            raise BadInput("--by is for --x and --y alone; remove the options of a regression")
        answer_regression(given)
    source = source_of(given) if given.proof is None else None
    if source is not None:
        answer_source(given, source)
    answer(given, read_points(given.file, given.x, given.y, given.label, given.by))
