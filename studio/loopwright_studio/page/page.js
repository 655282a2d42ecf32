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
    step.hidden = false;
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

  // search and filters
  const texts = new Map(), search = $('#search'), count = $('#count'), filters = [...document.querySelectorAll('[data-filter]')];
  const textOf = (step) => texts.get(step) ?? texts.set(step, step.textContent.toLowerCase()).get(step);
  const paint = (words, shown) => {
    if (!CSS.highlights) return;
    CSS.highlights.delete('found');
    if (!words) return;
    const found = new Highlight();
    for (const step of shown) {
      const walker = document.createTreeWalker(step, NodeFilter.SHOW_TEXT);
      for (let node; (node = walker.nextNode());) {
        const text = node.data.toLowerCase();
        for (let at = text.indexOf(words); at >= 0 && at + words.length <= node.data.length; at = text.indexOf(words, at + words.length)) {
          const range = new Range();
          range.setStart(node, at);
          range.setEnd(node, at + words.length);
          found.add(range);
        }
      }
    }
    CSS.highlights.set('found', found);
  };
  const sift = () => {
    const words = search.value.trim().toLowerCase(), kind = filters.find((each) => each.ariaPressed === 'true').dataset.filter;
    const shown = steps.filter((step) => {
      step.hidden = !((!kind || step.dataset.filters.split(' ').includes(kind)) && (!words || textOf(step).includes(words)));
      return !step.hidden;
    });
    const { all, some } = count.dataset;
    count.textContent = told(shown.length === steps.length ? all : some, { some: shown.length, all: steps.length });
    paint(words, shown);
  };
  search.addEventListener('input', () => { sift(); if (search.value) $('#steps').scrollIntoView(); });
  for (const button of filters) button.addEventListener('click', () => {
    for (const each of filters) each.ariaPressed = String(each === button);
    sift();
  });
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
    readout.textContent = told(readout.dataset.said, { round: $('.number', step).textContent, tokens: step.dataset.tokens });
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
  for (const button of document.querySelectorAll('.copy')) button.addEventListener('click', async () => {
    const command = button.previousElementSibling;
    try {
      await navigator.clipboard.writeText(command.textContent);
      button.textContent = button.dataset.done;
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
    if (event.target.matches('input')) { if (event.key === 'Escape') { search.value = ''; sift(); search.blur(); } return; }
    if (event.ctrlKey || event.metaKey || event.altKey || !does[event.key]) return;
    event.preventDefault();
    does[event.key]();
  });
  follow();
})();
