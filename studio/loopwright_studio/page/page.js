(() => {
  const root = document.documentElement, $ = (query, from = document) => from.querySelector(query);
  const steps = [...document.querySelectorAll('.step')];
  const byPlace = {};
  for (const step of steps) if (step.matches('.round')) byPlace[step.dataset.at] = step;
  const told = (text, facts) => text.replace(/\{(\w+)\}/g, (_, name) => facts[name]); // the page's words stand in its data-*
  root.classList.add('js');

  // the step that is read fills its boxes in the picture and moves the line on the chart
  const boxes = [...document.querySelectorAll('.machine .box')], here = $('.here'), plot = $('.plot');
  let current = null, chosen = false; // what was chosen by a key, a link or a click stays until one scrolls on
  const read = (step) => {
    if (!step || step === current) return;
    current?.classList.remove('current');
    current = step;
    step.classList.add('current');
    const nodes = step.dataset.nodes.split(' ');
    for (const box of boxes) box.classList.toggle('now', nodes.some((name) => box.classList.contains(name)));
    if (here) here.style.left = `${100 * (+step.dataset.at + .5) / plot.dataset.rounds}%`;
  };
  const seen = new Set();
  const watcher = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) isIntersecting ? seen.add(target) : seen.delete(target);
    let first = null;
    for (const step of seen) if (!first || first.compareDocumentPosition(step) & 2) first = step;
    if (!chosen) read(first);
  }, { rootMargin: '-18% 0px -60% 0px' });
  for (const step of steps) watcher.observe(step);
  for (const move of ['wheel', 'touchmove']) addEventListener(move, () => { chosen = false; }, { passive: true });
  const choose = (step) => {
    chosen = true;
    step.scrollIntoView({ block: 'center' });
    ($('summary', step) ?? step).focus({ preventScroll: true });
    read(step);
  };

  const go = (step) => {
    if (!step) return;
    if (step.hidden) { // a link leads to it among all others, whatever was searched
      search.value = '';
      pick(filters[0]);
    }
    if (step.matches('details')) step.open = true;
    choose(step);
  };
  const follow = () => go(location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest('.step'));
  addEventListener('hashchange', follow);
  document.addEventListener('click', (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link && link.hash === location.hash) follow();
    const row = event.target.closest('.step > summary');
    if (row) { chosen = true; read(row.parentElement); }
  });

  // search and filters; what stands in every round (legends, commands, facts about the request) is not searched
  const texts = new Map(), search = $('#search'), count = $('#count'), filters = [...document.querySelectorAll('[data-filter]')];
  const plain = (text) => { const lower = text.toLowerCase(); return (lower.length === text.length ? lower : text).replace(/\s/g, ' '); };
  const textOf = (step) => {
    if (!texts.has(step)) {
      const nodes = [], walker = document.createTreeWalker(step, NodeFilter.SHOW_TEXT);
      for (let node, at = 0; (node = walker.nextNode());) {
        if (node.parentElement.closest('.legend, .ready, .aside')) continue;
        nodes.push({ node, at, end: at += node.data.length });
      }
      texts.set(step, { nodes, text: plain(nodes.map(({ node }) => node.data).join('')) });
    }
    return texts.get(step);
  };
  const places = (step, words) => {
    const { nodes, text } = textOf(step), found = [];
    let first = 0;
    for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + words.length)) {
      const range = new Range(), end = at + words.length;
      while (nodes[first].end <= at) first += 1;
      let last = first;
      while (nodes[last].end < end) last += 1;
      range.setStart(nodes[first].node, at - nodes[first].at);
      range.setEnd(nodes[last].node, end - nodes[last].at);
      found.push(range);
    }
    return found;
  };
  const paint = (words, shown) => {
    if (!CSS.highlights) return;
    CSS.highlights.delete('found');
    if (!words) return;
    const found = new Highlight();
    for (const step of shown) for (const place of places(step, words)) found.add(place);
    CSS.highlights.set('found', found);
  };
  const wanted = () => plain(search.value.trim());
  const seek = (forward) => { // the next step that holds the words is opened, down to the place in it
    const words = wanted(), shown = steps.filter((step) => !step.hidden);
    if (!words || !shown.length) return;
    const from = shown.indexOf(sought), at = from < 0 ? (forward ? 0 : shown.length - 1) : (from + (forward ? 1 : -1) + shown.length) % shown.length;
    sought = shown[at];
    chosen = true;
    if (sought.matches('details')) sought.open = true;
    for (const fold of sought.querySelectorAll('details')) fold.open = true;
    sought.scrollIntoView({ block: 'center' });
    const seen = places(sought, words).filter((range) => range.getClientRects().length), inside = $('.inside', sought);
    const place = seen.find((range) => inside?.contains(range.startContainer)) ?? seen[0], box = place?.startContainer.parentElement.closest('pre');
    const below = (from) => place.getBoundingClientRect().top - from;
    if (box) box.scrollTop += below(box.getBoundingClientRect().top) - box.clientHeight / 2;
    if (place) scrollBy(0, below(innerHeight / 2));
    read(sought);
    count.textContent = told(count.dataset.found, { at: at + 1, some: shown.length });
  };
  let sought = null;
  const sift = () => {
    sought = null;
    const words = wanted(), kind = filters.find((each) => each.ariaPressed === 'true').dataset.filter;
    const shown = steps.filter((step) => {
      step.hidden = !((!kind || step.dataset.filters.split(' ').includes(kind)) && (!words || textOf(step).text.includes(words)));
      return !step.hidden;
    });
    const { all, some } = count.dataset;
    count.textContent = told(shown.length === steps.length ? all : some, { some: shown.length, all: steps.length });
    paint(words, shown);
  };
  search.addEventListener('input', () => { sift(); if (search.value) $('#steps').scrollIntoView(); });
  const pick = (filter) => {
    for (const each of filters) each.ariaPressed = String(each === filter);
    sift();
  };
  for (const button of filters) button.addEventListener('click', () => pick(button));
  const openAll = $('#open-all');
  let opens = true;
  openAll.addEventListener('click', () => {
    for (const step of steps) if (!step.hidden && step.matches('details')) step.open = opens;
    opens = !opens;
    [openAll.textContent, openAll.dataset.other] = [openAll.dataset.other, openAll.textContent];
  });
  addEventListener('beforeprint', () => { for (const each of document.querySelectorAll('.verdict details')) each.open = true; });

  // the chart
  const over = $('.over'), readout = $('.readout');
  const under = (event) => {
    const box = over.getBoundingClientRect();
    return byPlace[Math.max(0, Math.min(plot.dataset.rounds - 1, Math.floor((event.clientX - box.left) / box.width * plot.dataset.rounds)))];
  };
  over?.addEventListener('pointermove', (event) => {
    const step = under(event);
    readout.textContent = told(readout.dataset.said, {
      run: /^run(\d+)-/.exec(step.id)?.[1] ?? 1, round: $('.number', step).textContent, tokens: step.dataset.tokens,
      time: $('.seconds', step).textContent,
    });
  });
  over?.addEventListener('click', (event) => { location.hash = under(event).id; });

  // buttons and keys
  const keys = $('#keys'), keysButton = $('#keys-button');
  const showKeys = () => { keys.hidden = !keys.hidden; keysButton.ariaExpanded = String(!keys.hidden); };
  const turn = () => {
    const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
  };
  keysButton.addEventListener('click', showKeys);
  $('#theme-button').addEventListener('click', turn);
  const copies = [...document.querySelectorAll('.copy')], copy = copies[0]?.textContent;
  for (const button of copies) button.addEventListener('click', async () => {
    const command = button.previousElementSibling;
    try {
      await navigator.clipboard.writeText(command.textContent);
      for (const each of copies) each.textContent = each === button ? button.dataset.done : copy; // the clipboard holds one
    } catch {
      getSelection().selectAllChildren(command); // a browser that does not let a file write to the clipboard
    }
  });
  const walk = (forward, wanted) => {
    const shown = steps.filter((step) => !step.hidden);
    const from = shown.indexOf(current), way = forward ? shown.slice(from + 1) : shown.slice(0, Math.max(0, from)).reverse();
    const step = way.find(wanted);
    if (step) choose(step);
  };
  const any = () => true, event = (step) => step.dataset.filters !== '';
  const does = {
    '/': () => search.focus(), j: () => walk(true, any), k: () => walk(false, any), n: () => walk(true, event),
    p: () => walk(false, event), s: () => { const link = $('#stuck-link'); if (link) location.hash = link.hash; follow(); },
    t: turn, '?': showKeys,
  };
  document.addEventListener('keydown', (event) => {
    if (event.target.matches('input')) {
      if (event.key === 'Escape') { search.value = ''; sift(); search.blur(); }
      if (event.key === 'Enter' && !event.isComposing) seek(!event.shiftKey);
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || !does[event.key]) return;
    event.preventDefault();
    does[event.key]();
  });
  follow();
})();
