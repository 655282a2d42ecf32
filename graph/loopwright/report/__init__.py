"""What happened on a thread, as plain data: a pure fold of its event log, with the texts taken from its messages."""

from loopwright.report.data import (
    CallReport,
    CompressionReport,
    DecisionReport,
    ExtensionReport,
    ModelReport,
    PauseReport,
    RoundReport,
    RunEntry,
    RunReport,
    Totals,
)
from loopwright.report.folding import fold_report
from loopwright.report.totals import totals_of

__all__ = [
    "CallReport",
    "CompressionReport",
    "DecisionReport",
    "ExtensionReport",
    "ModelReport",
    "PauseReport",
    "RoundReport",
    "RunEntry",
    "RunReport",
    "Totals",
    "fold_report",
    "totals_of",
]
