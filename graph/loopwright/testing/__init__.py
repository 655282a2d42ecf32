"""Public fakes for tests: a scripted chat model, a scripted endpoint over real HTTP, and its protocol."""

from loopwright.testing.endpoint import ModelEndpoint, Received
from loopwright.testing.manner import Manner
from loopwright.testing.protocol import illegal
from loopwright.testing.replies import RawCall, call, reply
from loopwright.testing.script import UnexpectedCall
from loopwright.testing.scripted import ModelRequest, ScriptedModel
from loopwright.testing.steps import CutStream, Dropped, ReplyDict, Slow, Status

__all__ = [
    "CutStream",
    "Dropped",
    "Manner",
    "ModelEndpoint",
    "ModelRequest",
    "RawCall",
    "Received",
    "ReplyDict",
    "ScriptedModel",
    "Slow",
    "Status",
    "UnexpectedCall",
    "call",
    "illegal",
    "reply",
]
