// The results of acre fit: numbers and sizes of arenas that are enough, and the sizes of arenas and pools.

const fit_height = 260;
const axis_name_height = 18;
const max_pairs = 12; // in a table
const max_slot_sizes = 12;

// The pairs by number of arenas, on a logarithmic axis.
function draw_front(width, front, title, peak_bytes) {
  const pairs = [...front.pairs].sort((a, b) => a.arenas - b.arenas);
  const steps = Math.log2(Math.max(pairs[pairs.length - 1].arenas / pairs[0].arenas, 2));
  const room_for_steps = width - margin.left - margin.right - 32;
  const x = (arenas) => margin.left + 16 + (Math.log2(arenas / pairs[0].arenas) / steps) * room_for_steps;
  const svg = empty_plot(width, fit_height, `${title}: ${pairs.map(pair_text).join('; ')}.`);
  const max = Math.max(peak_bytes, ...pairs.map((pair) => pair.total_bytes));
  const y = draw_vertical_axis(svg, ticks_up_to(max, 4, true), width, fit_height - axis_name_height, bytes_text);
  const bottom = fit_height - axis_name_height - margin.bottom;
  svg.append(shape('line', { x1: margin.left, x2: width - margin.right, y1: bottom, y2: bottom, class: 'axis' }),
    shape('line', { x1: margin.left, x2: width - margin.right, y1: y(peak_bytes), y2: y(peak_bytes),
      class: 'reference' },
      shape('title', {}, `live at the peak: ${bytes_text(peak_bytes)}`)),
    shape('path', {
      d: pairs.map((pair, i) => `${i === 0 ? 'M' : 'L'}${x(pair.arenas)} ${y(pair.total_bytes)}`).join(''),
      class: 'line first' }));
  let labelled = -Infinity;
  for (const pair of pairs) {
    const least = is_least(front, pair);
    svg.append(shape('circle', { cx: x(pair.arenas), cy: y(pair.total_bytes), r: least ? 7 : 4.5,
      class: least ? 'bar base' : 'bar' },
      shape('title', {}, pair_text(pair))));
    if (x(pair.arenas) - labelled < 60) continue;
    labelled = x(pair.arenas);
    svg.append(plot_text(labelled, bottom + 18, count_text(pair.arenas), 'middle'));
  }
  svg.append(plot_text((margin.left + width - margin.right) / 2, fit_height - 6, 'arenas', 'middle'));
  return svg;
}

function pair_text(pair) {
  return `${plural(pair.arenas, 'arena', 'arenas')} of ${bytes_text(pair.bytes)}, ` +
    `${bytes_text(pair.total_bytes)} in all`;
}

function is_least(front, pair) {
  return front.least !== null && pair.arenas === front.least.arenas && pair.bytes === front.least.bytes;
}

// The result of a replay over the real type.
function check_text(check) {
  if (!check) return '';
  if (check.failure) return `not checked: ${check.failure}`;
  if (!check.suffices) return 'checked: not enough';
  if (check.one_less_fails === null) return 'checked: enough';
  return `checked: enough, one less is ${check.one_less_fails ? 'not' : 'enough too'}`;
}

// The first pair, the one with the least memory, and others at even distances.
function shown_pairs(front) {
  const { pairs } = front;
  const group = (i) => Math.floor((i * (max_pairs - 1)) / pairs.length);
  if (pairs.length <= max_pairs) return pairs;
  return pairs.filter((pair, i) => i === 0 || is_least(front, pair) || group(i) !== group(i + 1));
}

function front_table(front, title, peak_bytes) {
  return table(`${title}: number and size`, ['arenas', 'bytes each', 'bytes in all', 'of the peak', 'note'],
    shown_pairs(front).map((pair) => [count_text(pair.arenas), count_text(pair.bytes), bytes_text(pair.total_bytes),
      peak_bytes > 0 ? `x ${(pair.total_bytes / peak_bytes).toFixed(2)}` : '',
      is_least(front, pair) ? ['least memory', check_text(front.check)].filter((text) => text).join('; ') : '']),
    [0, 1, 2, 3]);
}

function show_front(into, title, front, peak_bytes) {
  if (!front) return;
  if (front.impossible) into.append(element('p', {}, `${title}: ${front.impossible}`));
  if (front.pairs.length === 0) return;
  const { figure, room } = make_figure(title,
    'Total memory by number of arenas: with each of these sizes every allocation of the run ' +
    'succeeds. The larger point has the least memory. The line shows the live bytes at the peak.');
  into.append(figure);
  add_plot(room, (width) => draw_front(width, front, title, peak_bytes));
  figure.append(front_table(front, title, peak_bytes));
  if (front.code) figure.append(code_block(front.code, title));
}

function show_arena(into, arena) {
  if (!arena) return;
  const { generations } = arena;
  const rows = [];
  if (arena.bytes_without_reset !== undefined) rows.push(['never reset', arena.bytes_without_reset]);
  if (generations && generations.count > 0) {
    rows.push(['reset when nothing is live: the median generation', generations.p50_bytes],
      ['99 % of the generations', generations.p99_bytes], ['all generations', generations.max_bytes]);
  }
  const chosen = rows.findLast(([, bytes]) => bytes === arena.first_block_bytes);
  if (!chosen) rows.push(['first block', arena.first_block_bytes]);
  into.append(table('An arena, by how it is used', ['use', 'bytes of the first block', 'note'], rows.map((row) =>
    [row[0], count_text(row[1]), row === chosen ? check_text(arena.check) : '']), [1]));
}

function show_slots(into, slots) {
  if (!slots || slots.sizes.length === 0) return;
  into.append(table('Pools, by the size of a slot',
    ['slot', 'allocations', 'slots at the peak', 'bytes of a pool', 'bytes of a typed_arena'],
    slots.sizes.slice(0, max_slot_sizes).map((each) => [bytes_text(each.bytes), count_text(each.allocations),
      count_text(each.slots), bytes_text(each.pool_bytes),
      bytes_text(each.typed_arena_bytes)]), [0, 1, 2, 3, 4]));
  const omitted = slots.sizes.length - max_slot_sizes;
  const others = plural(omitted, 'more size needs', 'more sizes need');
  if (omitted > 0) into.append(element('p', { class: 'explanation' }, `${others} less memory.`));
}

// The allocations of a fit: those of an advice, or those selected for acre fit.
function selection_of(fit) {
  if (!fit.advice) return [`For ${fit.selected || 'all allocations'}`];
  const { title } = data.advice.advices[fit.advice - 1];
  return ['For advice ', element('a', { href: `#advice-${fit.advice}` }, `${fit.advice}: ${title}`),
    fit.thread === null || fit.thread === undefined ? '' : `, in thread ${fit.thread}, which has the most live bytes`];
}

function show_fit() {
  if (data.fit.length === 0) {
    by_id('fit').remove();
    return;
  }
  for (const fit of data.fit) {
    if (fit.refused) {
      by_id('fit-plot').append(element('p', {}, selection_of(fit), `: ${fit.refused}.`));
      continue;
    }
    const entry = element('div', { class: 'fit' }, element('p', { class: 'selection' }, selection_of(fit),
      `: ${plural(fit.allocations, 'allocation', 'allocations')}, ` +
      `at most ${bytes_text(fit.peak_bytes)} live at a time.`));
    by_id('fit-plot').append(entry);
    show_front(entry, 'multi_arena', fit.multi_arena, fit.peak_bytes);
    show_front(entry, 'concurrent_multi_arena', fit.concurrent_multi_arena, fit.peak_bytes);
    show_arena(entry, fit.arena);
    show_slots(entry, fit.slots);
  }
}
