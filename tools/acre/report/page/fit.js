// What acre fit found: how many arenas of which size are enough, and the sizes of arenas and pools.

const fit_height = 240;

// The pairs by their number of arenas, in equal steps to each doubling.
function draw_front(width, front, title) {
  const pairs = [...front.pairs].sort((a, b) => a.arenas - b.arenas);
  const steps = Math.log2(Math.max(pairs[pairs.length - 1].arenas / pairs[0].arenas, 2));
  const x = (arenas) => margin.left + 16 + (Math.log2(arenas / pairs[0].arenas) / steps) * (width - margin.left - margin.right - 32);
  const svg = empty_plot(width, fit_height, `${title}: ${pairs.map(pair_text).join('; ')}.`);
  const y = draw_vertical_axis(svg, ticks_up_to(Math.max(...pairs.map((pair) => pair.total_bytes)), 4, true), width, fit_height, bytes_text);
  const bottom = fit_height - margin.bottom;
  svg.append(shape('line', { x1: margin.left, x2: width - margin.right, y1: bottom, y2: bottom, class: 'axis' }),
    shape('path', { d: pairs.map((pair, i) => `${i === 0 ? 'M' : 'L'}${x(pair.arenas)} ${y(pair.total_bytes)}`).join(''), class: 'line first' }));
  let labelled = -Infinity;
  for (const pair of pairs) {
    const least = front.least && pair.arenas === front.least.arenas && pair.bytes === front.least.bytes;
    svg.append(shape('circle', { cx: x(pair.arenas), cy: y(pair.total_bytes), r: least ? 7 : 4.5, class: least ? 'bar base' : 'bar' },
      shape('title', {}, pair_text(pair))));
    if (x(pair.arenas) - labelled < 60) continue;
    labelled = x(pair.arenas);
    svg.append(plot_text(labelled, bottom + 18, count_text(pair.arenas), 'middle'));
  }
  return svg;
}

function pair_text(pair) {
  return `${plural(pair.arenas, 'arena', 'arenas')} of ${bytes_text(pair.bytes)}, ${bytes_text(pair.total_bytes)} in all`;
}

function show_front(into, title, front) {
  if (!front) return;
  if (front.impossible) into.append(element('p', {}, `${title}: ${front.impossible}`));
  if (front.pairs.length === 0) return;
  const least = front.least ? ` The least memory is ${pair_text(front.least)}.` : '';
  const { figure, room } = make_figure(title, 'Memory in all by the number of arenas: with each of these sizes every ' +
    `allocation of the selection finds room.${least}`);
  into.append(figure);
  add_plot(room, (width) => draw_front(width, front, title));
  figure.append(folded_table('As a table', title, ['arenas', 'bytes each', 'bytes in all'],
    () => front.pairs.map((pair) => [count_text(pair.arenas), bytes_text(pair.bytes), bytes_text(pair.total_bytes)]), [0, 1, 2]));
  if (front.code) figure.append(code_block(front.code, title));
}

function show_slots(into, slots) {
  if (!slots || slots.sizes.length === 0) return;
  into.append(table('Pools, by the size of a slot', ['slot', 'allocations', 'slots at a time', 'object_pool', 'typed_arena'],
    slots.sizes.map((each) => [bytes_text(each.bytes), count_text(each.allocations), count_text(each.slots), bytes_text(each.pool_bytes),
      bytes_text(each.typed_arena_bytes)]), [0, 1, 2, 3, 4]));
}

function show_fit() {
  if (data.fit.length === 0) {
    by_id('fit').remove();
    return;
  }
  for (const fit of data.fit) {
    const part = element('div', {}, element('p', {}, `For ${fit.selected || 'all allocations'}: ` +
      `${plural(fit.allocations, 'allocation', 'allocations')}, at most ${bytes_text(fit.peak_bytes)} alive at a time.`));
    by_id('fit-plot').append(part);
    show_front(part, 'multi_arena', fit.multi_arena);
    show_front(part, 'concurrent_multi_arena', fit.concurrent_multi_arena);
    if (fit.arena) part.append(element('p', {}, `arena: a first block of ${bytes_text(fit.arena.first_block_bytes)}.`));
    show_slots(part, fit.slots);
  }
}
