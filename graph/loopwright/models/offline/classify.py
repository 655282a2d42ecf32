"""From one clause to what it asks for, by its words."""

import re

from loopwright.models.offline.arithmetic import PREVIOUS, expression_in, percent_of
from loopwright.models.offline.intents import (
    Aggregate,
    Arithmetic,
    Intent,
    ListFiles,
    Operation,
    QuoteLines,
    ReadFile,
    TellTime,
)
from loopwright.models.offline.paths import FILE, FileName, file_in, folder_in
from loopwright.models.offline.places import places_in
from loopwright.models.offline.terms import search_terms

_TIME = re.compile(
    r"\bwhat(?:'s| is)?(?: the)?(?: current)? (?:time|date|day)\b|\b(?:current|local) (?:time|date)\b"
    r"|\btime (?:is it|now)\b"
    r"|\btime in [A-Z]|\btoday'?s date\b|几点|现在.{0,8}时间|当前时间|(?:今天|现在).{0,4}(?:几号|日期|星期几|周几)",
    re.I,
)
_LIST = re.compile(
    r"\b(?:list|show|which|what)\b.{0,30}\b(?:files|folder|directory|workspace)\b|^\s*ls\b"
    r"|(?:列出|显示|查看|看看|有哪些|哪些|有什么).{0,12}(?:文件|目录)|(?:文件|目录).{0,6}(?:有哪些|有什么|列表)",
    re.I,
)
_READ = re.compile(
    r"\b(?:read|open|show|cat|print|display|view|look at|see|what(?:'s| is) (?:in|inside))\b"
    "|读|打开|查看|显示|看看|看一下|内容|里有什么",
    re.I,
)
_QUOTE = re.compile(
    r"\bquote\b|\bsays? (?:about|on)\b|\babout\b|\bmentions?\b"
    r"|\blines?\b.{0,12}\b(?:with|about|contain\w*|that|on|for|mention\w*)\b"
    r"|\b(?:find|search)\b|关于|提到|有关|引用|含有|包含|怎么说|哪一?行|那一?行|的一行|查找|搜索",
    re.I,
)
_QUOTE_FIRST = re.compile(r"\bquote\b|引用|的一行|[那哪]一?行", re.I)
_ROWS = re.compile(r"\b(?:rows?|columns?|table|csv)\b|行|列|表", re.I)
_LINE_NUMBER = re.compile(r"\blines? (?:number )?(\d+)\b|第\s*(\d+)\s*行", re.I)
_OPERATIONS: tuple[tuple[Operation, str], ...] = (
    ("count", r"\bhow many\b|\bcount\b|\bnumber of\b|多少\s*(?:行|条|笔|个)|几(?:行|条|笔)|行数|条数|计数"),
    ("mean", r"\baverage\b|\bmean\b|平均"),
    ("min", r"\b(?:smallest|lowest|minimum|min|least)\b|最小|最低|最少"),
    ("max", r"\b(?:largest|highest|biggest|greatest|maximum|max|most)\b|最大|最高|最多"),
    (
        "sum",
        r"\badd(?:ing)? (?:up|together)\b|\bsum\b|\btotals?\b|加起来|加总|求和|合计|总和|总计|总额|总数|相加|一共|累计",
    ),
)


def classify(clause: str, file: FileName | None = None) -> tuple[Intent, ...]:
    """The intents of a clause, mostly one, none when no rule knows it; `file` is the one earlier clauses speak of.

    "15 % of the March total in sales.csv" is two: the total, and the percentage of it.
    """
    named = file_in(clause)
    if _TIME.search(clause) and not named:
        return (TellTime(places_in(clause)),)
    if named is None and (expression := expression_in(clause)):
        return (Arithmetic(expression),)
    if (named or file) and (share := percent_of(clause)):
        of = classify(share[1], named or file)
        return (*of, Arithmetic(f"{PREVIOUS} * {share[0]} / 100")) if of and isinstance(of[0], Aggregate) else ()
    return _about_files(clause, named, file)


def _about_files(clause: str, named: FileName | None, file: FileName | None) -> tuple[Intent, ...]:
    subject = named or file
    number = _LINE_NUMBER.search(clause)
    if subject and number:
        return (QuoteLines(named, line=int(number[1] or number[2])),)
    quoting = _QUOTE.search(clause)
    operation = _operation(FILE.sub(" ", clause))
    if operation and (subject.is_table and not _QUOTE_FIRST.search(clause) if subject else _ROWS.search(clause)):
        return (Aggregate(named, operation, clause),)
    if subject and quoting and (terms := search_terms(clause)):
        return (QuoteLines(named, terms),)
    if named is None and _LIST.search(clause):
        pattern = re.search(r"\*\.\w+|\b(csv|tsv|json|txt|log|md|py)\b", clause, re.I)
        wanted = "" if pattern is None else f"*.{pattern[1].lower()}" if pattern[1] else pattern[0]
        return (ListFiles(folder_in(clause), wanted),)
    if named and (_READ.search(FILE.sub(" ", clause)) or not re.search(r"\w", FILE.sub("", clause))):
        return (ReadFile(named),)
    return ()


def _operation(text: str) -> Operation | None:
    if re.search(r"\bwhich\b|哪个", text, re.I) and re.search(_OPERATIONS[-1][1], text, re.I):
        return "sum"  # "which region has the highest total": the totals of all regions answer it
    for name, words in _OPERATIONS:
        if re.search(words, text, re.I):
            return name
    return None
