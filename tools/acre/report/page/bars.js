// Time and memory of the same allocations with other allocators, as bars beside malloc.

const bar_row = 30;
const bar_letter = 7.9;

// `rows` are {name, value, low, high, text}; `mark` is a value to draw a line at.
function draw_comparison(width, rows, label, mark) {
  const longest = Math.max(...rows.map((row) => row.name.length));
  const room_left = Math.min(longest * bar_letter + 12, width * 0.45);
  const room_right = 120;
  const max = Math.max(...rows.map((row) => Math.max(row.value, row.high || 0)), mark || 0, Number.MIN_VALUE);
  const x = (value) => room_left + (value / max) * (width - room_left - room_right);
  const svg = empty_plot(width, rows.length * bar_row + 12, label);
  const reference = shape('line', { x1: x(mark), x2: x(mark), y1: 0, y2: rows.length * bar_row + 6,
    class: 'reference' });
  const texts = [];
  rows.forEach((row, i) => {
    const y = i * bar_row + 6;
    svg.append(plot_text(room_left - 8, y + 17, fitting(row.name, room_left - 8, bar_letter), 'end', 'bar-name'));
    if (row.value === null) {
      texts.push(plot_text(room_left + 4, y + 17, row.text, 'start', 'bar-value'));
      return;
    }
    svg.append(shape('rect', { x: room_left, y: y + 3, width: Math.max(x(row.value) - room_left, 1),
      height: bar_row - 10,
      class: row.is_base ? 'bar base' : 'bar' }));
    if (row.high) {
      svg.append(shape('path',
        { d: `M${x(row.low)} ${y + 9}v8M${x(row.low)} ${y + 13}H${x(row.high)}M${x(row.high)} ${y + 9}v8`,
          class: 'whisker' }));
    }
    texts.push(plot_text(Math.max(x(row.value), x(row.high || 0)) + 6, y + 17, row.text, 'start', 'bar-value'));
  });
  svg.append(mark ? reference : '', ...texts);
  return svg;
}

function time_bars(resources) {
  return resources.map((each) => (each.failed ? { name: each.name, value: null, text: each.why } : {
    name: each.name, value: each.ratio, low: each.ratio_low, high: each.ratio_high, is_base: each.name === 'system',
    text: `${each.ratio.toFixed(2)} (${each.ns_per_operation.toFixed(1)} ns)`,
  }));
}

function memory_bars(resources) {
  return resources.filter((each) => !each.failed).map((each) => ({
    name: each.name, value: each.peak_bytes, is_base: each.name === 'system', text: bytes_text(each.peak_bytes),
  }));
}

// The results of each contender on a clean heap.
function contenders_of(replay) {
  return replay.resources.map((each) => {
    const parameters = Object.entries(each.parameters || {}).map(([name, value]) => `${name}=${value}`).join(':');
    const resource = [each.name, parameters].filter((text) => text).join(':');
    const name = resource + (each.frees === false ? ', without frees' : '');
    if (each.failed) return { name, failed: true, why: each.why || 'failed' };
    const times = each.clean || {};
    return {
      name, failed: false,
      ratio: times.ratio ? times.ratio.median : each.ratio,
      ratio_low: times.ratio ? times.ratio.low : each.ratio_low,
      ratio_high: times.ratio ? times.ratio.high : each.ratio_high,
      ns_per_operation: times.ns_per_event ? times.ns_per_event.median : each.ns_per_operation,
      peak_bytes: each.held_bytes === undefined ? each.peak_bytes : each.held_bytes,
    };
  });
}

function replay_rows(resources) {
  return resources.map((each) => (each.failed ? [each.name, each.why, '', '', '']
    : [each.name, `${each.ns_per_operation.toFixed(1)} ns`, each.ratio.toFixed(3),
      `${each.ratio_low.toFixed(3)} to ${each.ratio_high.toFixed(3)}`, bytes_text(each.peak_bytes)]));
}

function replayed_text() {
  return data.replay.events < data.info.events
    ? `A sample of ${count_text(data.replay.events)} events from the whole run` : 'All events of the run';
}

function show_replay() {
  const into = by_id('replay-plot');
  if (!data.replay) {
    into.append(element('p', { class: 'explanation' }, data.sampling_period > 1
      ? 'A sample of the allocations cannot be replayed.'
      : 'Nothing was replayed: because of --no-measure, or because the trace has no events.'));
    return;
  }
  const resources = contenders_of(data.replay);
  const { notes } = data.replay;
  const rounds = data.replay.heaps ? data.replay.heaps.clean.rounds : data.replay.rounds;
  const time_figure = make_figure('Time, beside malloc',
    `${replayed_text()}, replayed over each allocator: CPU time relative to malloc's, ` +
    `the median of ${plural(rounds, 'round', 'rounds')} ` +
    'with its interval. Shorter is faster; the line is malloc.');
  const memory_figure = make_figure('Peak of memory taken from the system', '');
  into.append(time_figure.figure, memory_figure.figure,
    folded_table('As a table', 'Replays', ['allocator', 'per event', 'ratio', 'interval', 'peak memory'],
      () => replay_rows(resources), [1, 2, 3, 4]),
    element('ul', { class: 'notes' }, notes.map((note) => element('li', {}, note))));
  add_plot(time_figure.room, (width) => draw_comparison(width, time_bars(resources),
    `Time beside malloc: ${time_bars(resources).map((row) => `${row.name} ${row.text}`).join('; ')}.`, 1));
  add_plot(memory_figure.room, (width) => draw_comparison(width, memory_bars(resources),
    `Peak memory: ${memory_bars(resources).map((row) => `${row.name} ${row.text}`).join('; ')}.`, 0));
}
