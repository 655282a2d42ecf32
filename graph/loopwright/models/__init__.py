"""Everything that knows a vendor: loading, calling and strictly reading chat models."""

from loopwright.models.calling import ChatRunnable, ask_model, model_name
from loopwright.models.loading import default_budget, demands_finish, keeps_retries, load_model, take_over_retries
from loopwright.models.replies import Reply, read_arguments

__all__ = [
    "ChatRunnable",
    "Reply",
    "ask_model",
    "default_budget",
    "demands_finish",
    "keeps_retries",
    "load_model",
    "model_name",
    "read_arguments",
    "take_over_retries",
]
