"""What the model sees: rendered, measured and shortened, never rewritten."""

from loopwright.memory.clipping import clip, rare_words
from loopwright.memory.compressing import Compressed, compress
from loopwright.memory.counting import count_message, count_text, count_tools
from loopwright.memory.language import language_of
from loopwright.memory.material import Material
from loopwright.memory.measuring import measure, measure_next, total
from loopwright.memory.profile import Profile
from loopwright.memory.rendering import render

__all__ = [
    "Compressed",
    "Material",
    "Profile",
    "clip",
    "compress",
    "count_message",
    "count_text",
    "count_tools",
    "language_of",
    "measure",
    "measure_next",
    "rare_words",
    "render",
    "total",
]
