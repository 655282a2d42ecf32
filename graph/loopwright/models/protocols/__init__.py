"""Text protocols: tool calling for models that have none, as a chat model around another."""

from loopwright.models.protocols.chat_model import FORMS, ProtocolModel, prompt_of, rewritten
from loopwright.models.protocols.form import FormName
from loopwright.models.protocols.text_tools import TextTools, text_tools

__all__ = ["FORMS", "FormName", "ProtocolModel", "TextTools", "prompt_of", "rewritten", "text_tools"]
