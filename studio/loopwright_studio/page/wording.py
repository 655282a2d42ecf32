"""Everything that the page alone says, in English and Chinese: one table, an entry for a word or a sentence.

Names of the machine (guard, nodes, stop reasons, policies) stay as code and docs call them.
"""

from loopwright_studio.wording import Said, Words


class Wording(Words):
    """The texts of the page in one language; those with placeholders are completed with `str.format`."""

    # head
    html_language = Said("en", "zh-CN")
    to_steps = Said("To the steps", "跳到步骤")
    keys = Said("Keys", "快捷键")
    theme = Said("Light / dark", "浅色 / 深色")
    run_of_thread = Said("run {number} of this thread", "此线程的第 {number} 次运行")
    key_search = Said("search", "搜索")
    key_found = Said("in the search: next place (with Shift: the one before)", "在搜索框中：下一处（加 Shift：上一处）")
    key_step = Said("next, previous step", "下一步、上一步")
    key_event = Said("next, previous event", "下一个、上一个事件")
    key_stuck = Said("where it got stuck", "卡住的位置")
    key_open = Said("open or close", "展开或收起")
    key_theme = Said("light or dark", "浅色或深色")
    key_keys = Said("these keys", "显示这些快捷键")

    # verdict
    round_number = Said("Round {step}", "第 {step} 轮")
    it_waits = Said("It waits for your answer.", "正在等待你的回答。")
    it_waits_for_several = Said("It waits for your answers.", "有多个问题在等待你的回答。")
    approval = Said("approval", "等待批准")
    budget_reached = Said("a limit was reached", "已达上限")
    outcome_unknown = Said("outcome unknown", "结果未知")
    it_runs = Said("It is running.", "正在运行。")
    held_by = Said(
        "Its thread is held by {holder}. The page shows what was finished when it was written: write it again to see more.",
        "线程由 {holder} 持有。本页只包含生成时已完成的内容；要看后续进展，请重新生成。",
    )
    it_was_left = Said("It was left in the middle: no process holds it.", "运行中断在半途：没有进程持有它。")
    left_why = Said(
        "Every finished step is kept, and it can go on from here.", "已完成的步骤全部保留，可以从这里继续。"
    )
    made_before = Said("Made before in round {rounds}.", "此前在第 {rounds} 轮调用过。")
    made_before_often = Said("Made before in rounds {rounds}.", "此前在第 {rounds} 轮都调用过。")
    so_before = Said("So it was before in round {rounds}.", "此前第 {rounds} 轮也是如此。")
    so_before_often = Said("So it was before in rounds {rounds}.", "此前第 {rounds} 轮都是如此。")
    last_error = Said("Last error", "最后的错误")
    where_it_began = Said("Round {step}, where it began", "第 {step} 轮：从这里开始")
    where_it_ended = Said("Round {step}, where it ended", "第 {step} 轮：在这里结束")
    where_it_waits = Said("Round {step}, where it waits", "第 {step} 轮：在这里等待")
    where_it_stands = Said("Round {step}, where it stands", "第 {step} 轮：目前进行到这里")
    stuck_call = Said("The call that got stuck", "卡住的调用")
    open_calls = Said("Calls without an outcome", "尚无结果的调用")
    what_waits = Said("What waits", "等待处理的内容")
    the_answer = Said("The answer", "回答")
    answer_at_stop = Said("The answer it gave when it stopped", "停下时给出的回答")

    # what to do
    what_to_do = Said("What to do", "接下来可以做什么")
    copy = Said("Copy", "复制")
    copied = Said("Copied", "已复制")
    copy_what = Said("Copy: {what}", "复制命令：{what}")
    ask_more = Said("Ask more on the same thread", "在同一线程继续提问")
    read_in_terminal = Said("Read it in the terminal", "在终端查看")
    find_checkpoint = Said("Find the checkpoint to fork from", "查找要从哪个检查点分叉")
    extend_limit = Said("Go on under a larger limit", "提高上限后继续")
    go_on_repaired = Said("Go on once it is repaired", "问题解决后继续")
    say_differently = Said("Say what to do differently, and go on", "说明该怎么改变做法，然后继续")
    go_on = Said("Go on", "继续运行")
    watch = Said("Watch it", "查看实时进展")
    see_whether_it_moves = Said("See whether it still moves", "看看是否仍有进展")
    let_it_run = Said("Let it run", "批准执行")
    refuse_it = Said("Refuse it, and say why", "拒绝并说明理由")
    let_it_go_on = Said("Let it go on", "允许继续")
    let_it_close = Said("Let it close with what it has", "不再继续，用已有内容收尾")
    it_did_happen = Said("It did happen", "确实发生了")
    it_did_not = Said("It did not happen", "没有发生")

    # totals
    totals = Said("Totals", "合计")
    model_calls = Said("Model calls", "模型调用")
    of_limit = Said("of {limit}", "上限 {limit}")
    of_limit_and_closing = Said("of {limit}, {more} more to close", "上限 {limit}，收尾另用 {more} 次")
    tool_calls = Said("Tool calls", "工具调用")
    tokens_in = Said("Tokens in", "输入 token")
    tokens_out = Said("{tokens} out", "输出 {tokens}")
    cost = Said("Cost", "费用")
    compressions = Said("Compressions", "记忆压缩")
    from_start_to_end = Said("From start to end", "总时长")
    all_runs = Said(
        "All {runs} runs of this thread: model calls {model_calls}, tool calls {tool_calls}, tokens in {tokens_in}, "
        "out {tokens_out}{cost}.",
        "此线程共 {runs} 次运行：模型调用 {model_calls} 次，工具调用 {tool_calls} 次，输入 {tokens_in} token，"
        "输出 {tokens_out}{cost}。",
    )
    and_cost = Said(", cost {cost}", "，费用 {cost}")
    time_model = Said("model", "模型")
    time_tools = Said("tools", "工具")
    time_memory = Said("memory", "记忆")
    time_waiting = Said("waiting for a person", "等待人工")
    time_own = Said("own code", "自身代码")
    time_idle = Said("nothing ran", "停机")

    # path, turning points
    path_it_took = Said("The path it took", "运行路径")
    path_hint = Said(
        "Numbers: times taken. Dashed: the guard’s choice. Filled: where the step is that you are reading.",
        "数字：经过次数。虚线：由 guard 选择。填色：正在阅读的步骤所在的节点。",
    )
    turning_points = Said("Turning points", "转折点")
    in_run = Said("run {number}", "第 {number} 次运行")
    more = Said("{count} more", "另外 {count} 个")

    # chart
    chart = Said("Tokens of each request, and what happened", "每次请求的 token 与发生的事件")
    memory_compressed = Said("memory compressed", "记忆压缩")
    error = Said("error", "错误")
    guard_stepped_in = Said("guard stepped in, red where it refused", "guard 介入（红色为拒绝）")
    budget_line = Said("budget of a request: {tokens}", "单次请求预算：{tokens}")
    budget_above = Said("budget of a request: {tokens}, above this scale", "单次请求预算：{tokens}，超出图表范围")
    lane_time = Said("time", "耗时")
    lane_guard = Said("guard", "guard")
    lane_errors = Said("errors", "错误")
    readout = Said("Round {round}: {tokens} tokens, {time}", "第 {round} 轮：{tokens} token，{time}")
    readout_of_run = Said(
        "Run {run}, round {round}: {tokens} tokens, {time}", "第 {run} 次运行第 {round} 轮：{tokens} token，{time}"
    )
    as_table = Said("The same as a table", "以表格显示")
    table = Said("Rounds as a table", "各轮的表格")
    column_run = Said("run", "运行")
    column_round = Said("round", "轮次")
    column_tokens = Said("tokens", "token")
    column_budget = Said("budget", "预算")
    yes = Said("yes", "是")

    # search and filters
    steps = Said("Steps", "步骤")
    search = Said("Search, Enter for the next", "搜索，按 Enter 到下一处")
    filters = Said("Filters", "筛选")
    filter_all = Said("All", "全部")
    filter_guard = Said("Guard", "guard")
    filter_errors = Said("Errors", "错误")
    filter_memory = Said("Memory", "记忆")
    filter_people = Said("People", "人工")
    open_all = Said("Open all", "全部展开")
    close_all = Said("Close all", "全部收起")
    all_steps = Said("{all} steps", "{all} 个步骤")
    some_steps = Said("{some} of {all}", "{some} / {all}")
    found_step = Said("place {at} of {some}", "第 {at} 处，共 {some} 处")

    # steps between rounds
    run = Said("Run {number}", "第 {number} 次运行")
    answered = Said("Answered", "已回答")
    stopped = Said("Stopped: {reason}", "已停止：{reason}")
    compressed = Said("Memory compressed", "记忆已压缩")
    from_to = Said("{before} → {after} tokens", "{before} → {after} token")
    summary_of = Said("summary of {tokens} tokens", "摘要 {tokens} token")
    folded_steps = Said("steps folded: {count}", "折叠 {count} 步")
    dropped_steps = Said("steps dropped: {count}", "移除 {count} 步")
    clipped_results = Said("results clipped: {count}", "截短结果 {count} 条")
    calls_left = Said("calls that left: {tools}", "移出的调用：{tools}")
    summary_unusable = Said("summary unusable", "摘要无法使用")
    summary_failed = Said("no summary: {why}", "没有摘要：{why}")
    new_limits = Said("Went on under new limits", "以新的上限继续")
    tried_again = Said("Went on after the failure", "失败后继续")
    asked = Said("Asked", "已询问")
    happened_yes = Said("It happened", "确实发生了")
    happened_no = Said("It did not happen", "没有发生")
    happened_unknown = Said("Nobody knows whether it happened", "是否发生仍不清楚")
    extended = Said("Extended: {limits}", "已提高上限：{limits}")
    not_extended = Said("Not extended", "未提高上限")
    forked = Said("Went back to checkpoint {checkpoint}", "回到检查点 {checkpoint}")
    forked_elsewhere = Said(
        "Began as a fork of thread {thread}, at checkpoint {checkpoint}",
        "从线程 {thread} 的检查点 {checkpoint} 分叉出来",
    )
    fork_edited = Said("with an edit", "有改动")
    fork_unchanged = Said("nothing edited", "未作改动")
    new_thread = Said("NEW-THREAD", "新线程名")
    fork_again = Said("Fork from there again", "再次从该处分叉")
    turn_memory = Said("memory", "记忆")
    turn_extended = Said("extended", "提高上限")
    turn_tried_again = Said("again", "重试")
    turn_asked = Said("asked", "询问")
    turn_forked = Said("fork", "分叉")

    # a round
    model_failed = Said("Model: {kind}", "模型：{kind}")
    guard = Said("Guard", "guard")
    as_written = Said("as written", "原文")
    needs_approval = Said("needs approval", "需要批准")
    needs_approval_of = Said("needs approval: {tools}", "需要批准：{tools}")
    result = Said("Result", "结果")
    cut = Said("The first {shown} of {whole} characters.", "共 {whole} 个字符，只显示前 {shown} 个。")
    cut_off = Said("The first {shown} characters.", "只显示前 {shown} 个字符。")
    whole_text = Said("The whole: {count} characters", "全文：{count} 个字符")
    same_call = Said("the same call in round {step}", "第 {step} 轮的相同调用")
    retries = Said("retries: {count}", "重试 {count} 次")
    reply_of = Said("reply of {tokens} tokens in {time}", "回复 {tokens} token，用时 {time}")
    estimated = Said("tokens estimated", "token 数为估算")
    link = Said("link to this round", "本轮链接")
    whole_round = Said("The whole round", "本轮完整内容")

    # foot
    foot = Said(
        "This file is the whole page: it loads nothing and sends nothing. Written by",
        "本文件就是完整页面，不加载也不发送任何内容。生成命令：",
    )


PICTURE = {
    "The machine: the guard in the middle, and the nodes that it leads to": "状态机：guard 居中，通向各个节点",
    "the only call": "唯一的模型调用",
    "down to the budget": "压缩到预算以内",
    "one task a call": "每个调用一个任务",
    "waits for a person": "等待人工",
    "repeats, errors": "重复、错误",
    "limits, budget": "上限、预算",
    "every decision": "每个决定",
    "is an event": "都是事件",
}
"""What stands in the picture of the machine, which is drawn in English."""
