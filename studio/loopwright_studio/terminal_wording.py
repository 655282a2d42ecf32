"""Everything that the terminal says of one thread, in English and Chinese: an entry for a word or a sentence.

What is said before a task is known, and of no thread or of many, is English: help, `doctor`, lists, usage.
"""

from loopwright.language import Language, language
from loopwright.report import RunReport
from loopwright_studio.wording import Counted, Said, Words


class TerminalWording(Words):
    """The texts of the terminal in one language; those with placeholders are completed with `str.format`."""

    # between words
    in_brackets = Said(" ({text})", "（{text}）")
    error = Said("Error: {text}", "错误：{text}")

    # how a run begins and ends
    run_begins = Said("{model}, thread {thread}", "{model}，线程 {thread}")
    no_model_answers = Said(
        "No language model answers: {found}, so {model} follows a few fixed rules. For a real one, {how}.",
        "没有语言模型作答：{found}，因此由 {model} 按几条固定规则应答。要用真正的模型，请{how}。",
    )
    key_alone = Said("a key is set but no model is named", "已设置密钥，但未指定模型")
    no_model = Said("no model is set", "未设置模型")
    name_one = Said("name one with {named}", "用 {named}指定一个")
    set_key = Said("set OPENAI_API_KEY and name one with {named}", "设置 OPENAI_API_KEY，并用 {named}指定一个")
    ways_to_name = Said(
        "--model openai:NAME, LOOPWRIGHT_MODEL or a line in loopwright.toml",
        "--model openai:NAME、LOOPWRIGHT_MODEL 或 loopwright.toml 中的一行",
    )
    began_by_a_model = Said(
        "Thread {thread!r} was run by {model} and no model is set: name one with --model openai:NAME.",
        "线程 {thread!r} 由 {model} 运行过，而现在未设置模型：请用 --model openai:NAME 指定一个。",
    )
    has_ended = Said(
        "The last run of thread {thread} has ended ({status}): larger limits (--extend) or a new task "
        "(loopwright run --thread) go on from there.",
        "线程 {thread} 的上一次运行已经结束（{status}）：提高上限（--extend）或给出新任务"
        "（loopwright run --thread）即可由此继续。",
    )
    interrupted = Said(
        "Interrupted: every finished step is kept. Go on with: {command}",
        "已中断：已完成的步骤全部保留。继续运行：{command}",
    )
    stopping = Said(
        "Stopping after the step that is running; press Ctrl-C again to stop at once.",
        "当前步骤完成后停止；再按一次 Ctrl-C 立即停止。",
    )
    not_kept = Said("The run is not kept: its storage was memory.", "此次运行没有保存：存储只在内存中。")
    kept = Said("Kept in {where}, thread {thread}.", "已保存在 {where}，线程 {thread}。")
    look_at_it = Said("look at it", "查看")
    ask_more = Said("ask more", "继续提问")

    # the two lines below a run
    budget_round = Said("round", "轮次")
    budget_tokens = Said("tokens", "token")
    leave = Said("Ctrl-C pauses after this step", "Ctrl-C 在当前步骤后暂停")
    leaving = Said("pauses after this step; Ctrl-C again stops at once", "当前步骤后暂停；再按 Ctrl-C 立即停止")

    # rows
    compressed = Said("{before:,} {to} {after:,} tokens{stage}", "{before:,} {to} {after:,} token{stage}")
    extended = Said("extended to {limits}", "提高上限：{limits}")
    not_extended = Said("not extended", "未提高上限")
    happened_yes = Said("it happened", "确实发生了")
    happened_no = Said("it did not happen", "没有发生")
    happened_unknown = Said("nobody knows", "是否发生仍不清楚")
    new_limits = Said("begin under new limits: {limits}", "begin 以新的上限继续：{limits}")
    tried_again = Said("begin again after the failure", "begin 在失败后继续")
    forked = Said("fork{edit} from checkpoint {checkpoint}{of}", "fork 从{of}检查点 {checkpoint} 继续{edit}")
    with_an_edit = Said(" with an edit", "，有改动")
    of_thread = Said(" of thread {thread}", "线程 {thread} 的")
    answered = Said("answered", "已回答")
    stopped = Said("stopped: {reason}", "已停止：{reason}")
    edited_call = Said("edited", "参数已改")
    retries = Counted("{n:,} retry", "{n:,} retries", "重试 {n:,} 次")
    compressions = Counted("{n:,} compression", "{n:,} compressions", "压缩 {n:,} 次")

    # the stop card
    card_stopped = Said("Stopped", "已停止")
    card_left = Said("Left in the middle: every finished step is kept", "中断在半途：已完成的步骤全部保留")
    full_stop = Said(".", "。")
    it_began = Said("It began at step {step}.", "从第 {step} 步开始。")
    its_result = Said("Its result: {text}", "其结果：{text}")

    # show
    thread = Said("Thread {thread}", "线程 {thread}")
    run = Said("Run {number}", "第 {number} 次运行")
    run_running = Said("running", "运行中")
    run_completed = Said("completed", "已完成")
    run_stopped = Said("stopped", "已停止")
    run_failed = Said("failed", "已失败")
    run_paused = Said("paused", "等待中")
    run_unfinished = Said("unfinished", "未结束")
    all_runs = Said("All {runs} runs: {sums}", "全部 {runs} 次运行：{sums}")
    token_ratio = Said(
        "The server of {model} counts {ratio:.2f} tokens for each of ours; budgets allow for it.",
        "我们每数 1 个 token，{model} 的服务器计为 {ratio:.2f} 个；预算已考虑这一点。",
    )
    it_is_run_by = Said("It is run by {holder}.", "运行者：{holder}。")
    nobody_holds_it = Said(
        "No process holds it: if it was left in the middle, go on with: {command}",
        "没有进程持有它：如果中断在半途，可以这样继续：{command}",
    )
    rounds_folded = Said(
        "rounds {first}{to}{last} went through: {what} (--all)", "第 {first}{to}{last} 轮顺利：{what}（--all）"
    )
    calls_ok = Counted("{n:,} call ok", "{n:,} calls ok", "{n:,} 次调用成功")
    model_calls = Counted("{n:,} model call", "{n:,} model calls", "模型调用 {n:,} 次")
    tool_calls = Counted("{n:,} tool call", "{n:,} tool calls", "工具调用 {n:,} 次")
    tokens_in_and_out = Said(
        "{tokens_in:,} tokens in, {tokens_out:,} out", "输入 {tokens_in:,} token，输出 {tokens_out:,}"
    )

    # one round, the next request
    no_such_tool = Said("no such tool", "没有这个工具")
    request_of = Said("request of {tokens:,} tokens: {parts}", "请求 {tokens:,} token：{parts}")
    estimated = Said("estimated", "估算")
    whole_result = Said("The whole result is kept under {ref}.", "完整结果保存在 {ref}。")
    no_round_yet = Said("Thread {thread!r} has no round yet.", "线程 {thread!r} 还没有任何一轮。")
    no_such_round = Said(
        "Thread {thread!r} has no round {number}: its rounds are 1 to {most}.",
        "线程 {thread!r} 没有第 {number} 轮：它有第 1 到第 {most} 轮。",
    )
    next_request = Said("The next request of thread {thread}", "线程 {thread} 的下一个请求")
    of_budget = Said("{tokens:,} of {budget:,} tokens: {parts}", "{tokens:,} token，预算 {budget:,}：{parts}")
    over_budget = Said(
        "It is over the budget: shown as it is shortened first, without the summary that would be written.",
        "超出预算：这里显示第一步缩短后的样子，不含届时会写的摘要。",
    )

    # what waits, and the commands that answer it
    waiting = Said("Waiting for you ({kind}): {question}", "等待你的决定（{kind}）：{question}")
    waiting_approval = Said("approval", "批准")
    waiting_budget = Said("budget", "上限")
    waiting_unknown = Said("unknown", "结果未知")
    all_of_it = Said(
        "All of it: `loopwright threads list --waiting --json`, or [v]iew where `resume` asks.",
        "全文：`loopwright threads list --waiting --json`，或在 `resume` 提问时选 [v]。",
    )
    expires = Said("counts as rejected from {at} on", "{at} 起视为拒绝")
    characters_in_all = Said("... ({count:,} characters in all)", "……（共 {count:,} 个字符）")
    name_word = Said("NAME", "参数名")
    value_word = Said("VALUE", "值")
    limit_word = Said("NAME=N", "上限名=数值")
    text_word = Said("TEXT", "内容")
    result_word = Said("RESULT", "结果")
    means_edit = Said("run it with other arguments", "换参数执行")
    means_instead = Said("answer in its stead", "代它回答")
    means_result = Said("it happened, and this is its result", "确实发生了，这是它的结果")

    # answers that are given as options
    one_answer = Said(
        "Give one of --approve, --reject, --edit and --answer: they are different answers.",
        "请只给出 --approve、--reject、--edit、--answer 中的一个：它们是不同的回答。",
    )
    no_answer = Said(
        "--question names what is answered: add --approve, --reject, --edit or --answer.",
        "选项 --question 指明回答的是哪个问题：请加上 --approve、--reject、--edit 或 --answer。",
    )
    several_open = Said(
        "{count} questions are open: name one with --question ID, or all (open: {open}).",
        "有 {count} 个问题待回答：请用 --question ID 指明一个，或用 all 指全部（待回答：{open}）。",
    )
    nothing_open = Said(
        "Nothing is open on this thread: there is no question to answer.", "此线程没有待回答的问题：无可回答。"
    )
    not_open = Said(
        "No question {name!r} is open on this thread (open: {open}).",
        "此线程没有待回答的问题 {name!r}（待回答：{open}）。",
    )

    # asking
    question_number = Said("Question {number} of {count}", "第 {number} 个问题，共 {count} 个")
    choice_a = Said("[a]pprove", "[a] 批准")
    choice_e = Said("[e]dit", "[e] 修改")
    choice_r = Said("[r]eject", "[r] 拒绝")
    choice_i = Said("answer [i]nstead", "[i] 代答")
    choice_h = Said("it [h]appened", "[h] 发生了")
    choice_n = Said("it did [n]ot", "[n] 没发生")
    choice_s = Said("[s]kip, nobody knows", "[s] 跳过，没人知道")
    choice_v = Said("[v]iew", "[v] 全文")
    choice_q = Said("[q]uit, keeps waiting", "[q] 退出，继续等待")
    none_of_them = Said(
        "{typed!r} is none of them: type the letter in brackets.", "没有 {typed!r} 这一项：请输入方括号中的字母。"
    )
    answer_instead = Said("The answer the model gets", "模型得到的回答")
    why_not = Said("Why? The model is told", "为什么？理由会告诉模型")
    new_arguments = Said(
        'New arguments as JSON, as {"name": 1}; those not named stay',
        '新参数，写成 JSON，如 {"name": 1}；没有写出的保持不变',
    )
    not_json = Said(
        'The arguments are not valid JSON ({error}): write an object, as {{"name": 1}}.',
        '参数不是有效的 JSON（{error}）：请写成对象，如 {{"name": 1}}。',
    )
    no_object = Said(
        'The arguments are no JSON object with a name in it: write them as {"name": 1}.',
        '参数不是含有名称的 JSON 对象：请写成 {"name": 1}。',
    )


ENGLISH = TerminalWording("en")
"""What is said where no thread is spoken of."""


def spoken_of(report: RunReport) -> Language:
    """The language in which a thread is spoken of: that of its newest run's task."""
    return language(report.runs[-1].task) if report.runs else "en"
