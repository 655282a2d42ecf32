"""What happened on a thread, as plain data: a pure fold of its event log, with the texts taken from its messages."""

from loopwright.report.data import (
    CallReport,
    CompressionReport,
    DecisionReport,
    ExtensionReport,
    ForkReport,
    ModelReport,
    OutcomeReport,
    PauseReport,
    RoundReport,
    RunEntry,
    RunReport,
    StuckReport,
    Totals,
)
from loopwright.report.folding import fold_report
from loopwright.report.reading import read_report, report_of
from loopwright.report.texts import HEAD
from loopwright.report.totals import totals_of

__all__ = [
    "HEAD",
    "CallReport",
    "CompressionReport",
    "DecisionReport",
    "ExtensionReport",
    "ForkReport",
    "ModelReport",
    "OutcomeReport",
    "PauseReport",
    "RoundReport",
    "RunEntry",
    "RunReport",
    "StuckReport",
    "Totals",
    "fold_report",
    "read_report",
    "report_of",
    "totals_of",
]
