"""What the model sees: rendered, measured and shortened, never rewritten."""

from loopwright.memory.calibration import calibrated_ratio, token_ratio
from loopwright.memory.clipping import clip, rare_words
from loopwright.memory.compressing import Compressed, compress
from loopwright.memory.counting import count_message, count_text, count_tools
from loopwright.memory.encodings import is_exact
from loopwright.memory.material import Material
from loopwright.memory.measuring import measure, measure_next, total
from loopwright.memory.pinning import LONGEST_FACT, REMEMBER, pinned, with_remembered
from loopwright.memory.profile import Profile
from loopwright.memory.reflecting import reflection_request, unreflected, with_reflection
from loopwright.memory.rendering import render
from loopwright.memory.seeing import hides
from loopwright.memory.window import outgrown

__all__ = [
    "LONGEST_FACT",
    "REMEMBER",
    "Compressed",
    "Material",
    "Profile",
    "calibrated_ratio",
    "clip",
    "compress",
    "count_message",
    "count_text",
    "count_tools",
    "hides",
    "is_exact",
    "measure",
    "measure_next",
    "outgrown",
    "pinned",
    "rare_words",
    "reflection_request",
    "render",
    "token_ratio",
    "total",
    "unreflected",
    "with_reflection",
    "with_remembered",
]
