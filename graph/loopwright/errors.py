"""Everything Loopwright raises at a caller.

    LoopwrightError                 base; `exit_code` is what the command line ends with
    ├── UsageError            2     what was asked cannot be done as asked
    │   ├── SettingsError     2     a setting, variable or file holds a bad value
    │   ├── UnknownModel      2     no such model, or what it needs is not there
    │   ├── UnknownThread     2     the storage holds no such thread
    │   ├── UnknownCheckpoint 2     the thread holds no such checkpoint
    │   ├── DeliveryConflict  2     a run id was used before with another input
    │   ├── BadDecision       2     an answer does not fit the question that is open
    │   ├── ThreadBusy        2     another process runs this thread now
    │   └── StorageError      2     the storage cannot be opened, read or written
    ├── ThreadLost            4     the claim on the running thread was lost; the run can be resumed
    └── ModelFailure          5     the model's server cannot be used: no key, no connection, no answer

Nothing here carries a secret: messages name variables and places, never values.
"""


class LoopwrightError(RuntimeError):
    """Base of all errors raised at a caller; its text is one sentence that says what was wrong and what to do.

    A RuntimeError, since LangGraph's server tells its clients the text of Python's own kinds alone.
    """

    exit_code = 2


class UsageError(LoopwrightError):
    """What was asked cannot be done as asked; nothing was written."""


class SettingsError(UsageError):
    """A setting, variable or file holds a bad value."""


class UnknownModel(UsageError):
    """The model's name is not understood, or what it needs is missing."""


class UnknownThread(UsageError):
    """The storage holds no such thread."""


class UnknownCheckpoint(UsageError):
    """The thread holds no such checkpoint."""


class DeliveryConflict(UsageError):
    """A run id was used before with another input."""


class BadDecision(UsageError):
    """An answer does not fit the question that is open."""


class ThreadBusy(UsageError):
    """Another run holds this thread now."""


class StorageError(UsageError):
    """The storage cannot be opened, read or written."""


class ThreadLost(LoopwrightError):
    """The claim on the running thread was lost, so another run may hold it; what was finished is kept."""

    exit_code = 4


class ModelFailure(LoopwrightError):
    """The model's server cannot be used."""

    exit_code = 5
