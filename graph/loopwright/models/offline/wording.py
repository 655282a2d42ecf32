"""What the offline demo says, in English and Chinese: plans carry facts, the sentences are here."""

from loopwright.language import Language

_SENTENCES: dict[str, dict[Language, str]] = {
    "computed": {"en": "{expression} = {value}", "zh": "{expression} = {value}"},
    "percentage": {"en": "{share} % of {whole} = {value}", "zh": "{whole} 的 {share}% = {value}"},
    "previous": {"en": "(the number before)", "zh": "（前面的数）"},
    "computing_failed": {
        "en": "I could not compute {expression}: the calculator said: {error}",
        "zh": "无法计算 {expression}：calculator 报错：{error}",
    },
    "no_number_before": {
        "en": "I could not compute {expression}, because no number came before it.",
        "zh": "无法计算 {expression}：前面没有得到可用的数。",
    },
    "time": {"en": "In {place} it is {time}.", "zh": "{place}现在是 {time}。"},
    "time_utc": {"en": "No place was named, so in UTC: {time}.", "zh": "没有指明地点，按 UTC：{time}。"},
    "time_failed": {
        "en": "I could not get the time in {place}: {error}",
        "zh": "无法取得{place}的时间：{error}",
    },
    "time_adapted": {
        "en": "In {place} it is {time} (the clock did not know {asked}; I took {zone}, which it proposed).",
        "zh": "{place}现在是 {time}（时钟不认识 {asked}，改用了它建议的 {zone}）。",
    },
    "files": {"en": "Files in {folder}:\n{listing}", "zh": "{folder}中的文件：\n{listing}"},
    "workspace": {"en": "the workspace", "zh": "工作区"},
    "listing_failed": {"en": "I could not list {folder}: {error}", "zh": "无法列出 {folder}：{error}"},
    "file_failed": {"en": "I could not open {path}: {error}", "zh": "无法打开 {path}：{error}"},
    "file_adapted": {
        "en": " ({asked} could not be opened; a listing shows the file here)",
        "zh": "（{asked} 无法打开，列表显示文件在此处）",
    },
    "file_looked": {
        "en": " I listed the files and found no such name. There are: {files}.",
        "zh": "已列出文件，没有这个名字。现有：{files}。",
    },
    "file_look_failed": {
        "en": " I could not look for it either: {error}",
        "zh": "也无法查找它：{error}",
    },
    "content": {"en": "{path}{note}:\n{text}", "zh": "{path}{note}:\n{text}"},
    "content_more": {
        "en": "\n(the beginning only; ask for a line by its words)",
        "zh": "\n（仅为开头；可按关键词询问某一行）",
    },
    "quoted": {"en": "{path}{note}, {place}: \"{line}\"", "zh": "{path}{note},{place}:“{line}”"},
    "line": {"en": "line {number}", "zh": "第 {number} 行"},
    "some_line": {"en": "a line", "zh": "其中一行"},
    "not_quoted": {
        "en": "{path}{note} says nothing about {words} in the {count} lines I read.",
        "zh": "{path}{note} 中已读的 {count} 行里没有提到 {words}。",
    },
    "partly_quoted": {
        "en": "\n(no line holds all of {words}; these hold some)",
        "zh": "\n（没有一行包含全部 {words}，以上包含其中一部分）",
    },
    "clipped": {
        "en": " Part of what I read was clipped, so I may have missed lines.",
        "zh": "读到的内容有一部分被截断，可能有遗漏。",
    },
    "no_file_named": {"en": "Name the file, please: {asked}", "zh": "请指明文件：{asked}"},
    "no_columns": {
        "en": "I could not make out the columns of {path}. read_table gave: {text}",
        "zh": "无法看出 {path} 的列。read_table 返回：{text}",
    },
    "aggregate": {
        "en": "The {operation} of {column} in {path}{note} is {value} (read_table: {detail}).",
        "zh": "{path}{note} 中 {column} 的{operation}是 {value}(read_table:{detail})。",
    },
    "aggregate_rows": {
        "en": "{path}{note} has {value} such rows (read_table: {detail}).",
        "zh": "{path}{note} 中有 {value} 行（read_table：{detail}）。",
    },
    "aggregate_groups": {
        "en": "The {operation} of {column} in {path}{note} by {group}:\n{text}",
        "zh": "{path}{note} 中 {column} 按 {group} 的{operation}:\n{text}",
    },
    "aggregate_failed": {
        "en": "I could not work out the {operation} of {column} in {path}: {error}",
        "zh": "无法算出 {path} 中 {column} 的{operation}：{error}",
    },
    "no_value": {
        "en": "read_table gave no number for the {operation} of {column} in {path}: {text}",
        "zh": "read_table 没有给出 {path} 中 {column} 的{operation}：{text}",
    },
    "sum": {"en": "sum", "zh": "合计"},
    "mean": {"en": "average", "zh": "平均值"},
    "count": {"en": "count", "zh": "行数"},
    "min": {"en": "minimum", "zh": "最小值"},
    "max": {"en": "maximum", "zh": "最大值"},
    "column_chosen": {
        "en": " No column was named: I took {column} (the columns are {columns}).",
        "zh": "没有指明列：采用了 {column}（各列为 {columns}）。",
    },
    "no_numbers": {
        "en": "I see no column of numbers in {path} to work on; its columns are {columns}.",
        "zh": "{path} 中没有可供计算的数值列；各列为 {columns}。",
    },
    "no_dates": {
        "en": "I cannot pick a month in {path}: no column holds ISO dates or names of months (columns: {columns}).",
        "zh": "无法在 {path} 中按月份筛选：没有 ISO 日期列或月份名称列；各列为 {columns}。",
    },
    "one_month": {
        "en": "I can pick one month at a time; please ask for {months} one by one.",
        "zh": "每次只能筛选一个月份；请分别询问 {months}。",
    },
    "every_year": {
        "en": " No year was named and not only one is known, so this is that month of every year.",
        "zh": "没有指明年份，且不能确定只有一个年份，所以包括每一年的该月。",
    },
    "unused_words": {
        "en": " I made no use of these words: {words}.",
        "zh": "以下词语未被使用：{words}。",
    },
    "missing_tool": {
        "en": "I cannot do this part ({part}): it needs the tool {tool}, which is not offered here.",
        "zh": "无法完成这一部分（{part}）：需要工具 {tool}，但这里没有提供。",
    },
    "not_done": {
        "en": "Still missing: {part}. It needs {calls}, and no tool is offered now.",
        "zh": "还缺：{part}。需要 {calls}，但现在没有可用的工具。",
    },
    "waits": {
        "en": "Still missing: {part}, since the number it needs was not found.",
        "zh": "还缺：{part}，因为没有得到所需的数。",
    },
    "unclear": {"en": "I cannot do this: \"{text}\".", "zh": "这一点我做不到：“{text}”。"},
    "task_cut": {
        "en": "(I read only the first {count} characters of the task.)",
        "zh": "（任务只读了前 {count} 个字符。）",
    },
    "abilities": {
        "en": "I am offline:demo, a set of rules and no language model. I can: compute (12*(3+4), 15 % of 300), tell "
        "the time in a place, list files, read a file or quote its line about something, and give the sum, average, "
        "count, minimum or maximum of a table's column (\"add up the March rows of amount in sales.csv\"), also one "
        "after the other.",
        "zh": "我是 offline:demo，一组规则，不是语言模型。我会：计算（12*(3+4)、300 的 15%）、说出某地时间、列出文件、"
        "读取文件或引用其中关于某事的一行、求表格某列的合计、平均值、行数、最小值或最大值"
        "（“把 sales.csv 三月的 amount 加起来”），也可以依次组合。",
    },
    "closing": {
        "en": "The run stops here. What was found:",
        "zh": "运行到此为止。已得到的结果：",
    },
    "extract": {"en": "Extract (made by rules):", "zh": "摘录（按规则）："},
    "nothing_to_extract": {"en": "The text holds nothing to extract.", "zh": "文本中没有可摘录的内容。"},
    "looped": {
        "en": "I am offline:looper, a rule that repeats one call; it is no language model. I called {call} {times} "
        "times and found nothing else; beyond its result nothing of the task is answered.{result}",
        "zh": "我是 offline:looper，一条只会重复同一调用的规则，不是语言模型。我调用了 {call} {times} 次，"
        "没有得到别的东西；除其结果之外，任务没有得到回答。{result}",
    },
    "looped_result": {"en": " It returned: {text}", "zh": "它返回：{text}"},
    "looper_idle": {
        "en": "I am offline:looper, a rule that repeats one call; no tool is offered, so there is nothing to repeat.",
        "zh": "我是 offline:looper，一条只会重复同一调用的规则；这里没有提供工具，所以没有可重复的调用。",
    },
}  # fmt: skip


def say(language: Language, sentence: str, **facts: object) -> str:
    """The sentence of this name in the language, with its facts filled in."""
    return _SENTENCES[sentence][language].format(**facts)


def beginning(text: str, limit: int) -> str:
    """At most `limit` characters and a mark, cut at the end of a line, else at white space, else not shown at all."""
    text = text.strip()
    if len(text) <= limit:
        return text
    head = text[: limit + 1]
    cut = max(head.rfind("\n"), 0) or max(head.rfind(" "), 0)
    return f"{head[:cut].rstrip()} [...]".lstrip()
