// The distributions of sizes and lifetimes, as bars.

const histogram_height = 220;
const from_labels = 'A label is the lower bound of the bar to its right.';

// Draws a bar for each of `classes`, [label, range in words, count, bytes, is not a range], by count or by bytes.
function add_histogram(into, title, explanation, options) {
  const readout = element('p', { class: 'readout', role: 'status' }, 'No bar is selected.');
  let weight = 'count';
  let chosen = null;
  let again = () => {};
  const values = () => options.classes().map((each) => (weight === 'count' ? each[2] : each[3]));
  const tell = (position) => {
    chosen = position;
    readout.textContent = position === null ? 'No bar is selected.' : class_text(options.classes(), position);
    again();
  };
  const { figure, room } = make_figure(title, explanation, { count: () => options.classes().length, show: tell });
  const controls = element('div', { class: 'controls' }, options.controls(() => tell(null)),
    choice('Bars show', `${options.name}-weight`, [['count', 'objects'], ['bytes', 'bytes']],
      (value) => { weight = value; again(); }));
  figure.querySelector('figcaption').append(controls);
  figure.append(readout, folded_table('As a table', title, ['class', 'objects', 'share', 'bytes', 'share'],
    () => options.classes().map((each) => [each[1], count_text(each[2]), share_text(options.classes(), each, 2),
      bytes_text(each[3]), share_text(options.classes(), each, 3)]), [1, 2, 3, 4]));
  into.append(figure);
  again = add_plot(room, (width) => draw_bars(width, values(), options.classes(), weight, chosen, tell, title));
  return again;
}

function share_text(classes, each, column) {
  const all = classes.reduce((sum, other) => sum + other[column], 0);
  return percent_text(all > 0 ? each[column] / all : 0);
}

function class_text(classes, position) {
  const each = classes[position];
  return `${each[1]}: ${plural(each[2], 'object', 'objects')} (${share_text(classes, each, 2)}), ` +
    `${bytes_text(each[3])} (${share_text(classes, each, 3)}).`;
}

function draw_bars(width, values, classes, weight, chosen, tell, title) {
  const max = values.reduce((a, b) => Math.max(a, b), 0);
  const top = values.indexOf(max);
  const summary = classes.length === 0 ? 'nothing' : `most in ${classes[top][1]}`;
  const svg = empty_plot(width, histogram_height, `${title}, ${weight === 'count' ? 'objects' : 'bytes'}: ${summary}.`);
  const y = draw_vertical_axis(svg, ticks_up_to(max, 4, weight !== 'count'), width, histogram_height,
    weight === 'count' ? short_count : bytes_text);
  const bottom = histogram_height - margin.bottom;
  const step = (width - margin.left - margin.right) / Math.max(classes.length, 1);
  const every = Math.ceil(62 / step);
  values.forEach((value, i) => {
    const x = margin.left + i * step;
    const height = value > 0 ? Math.max(bottom - y(value), 1) : 0;
    const bar = shape('rect', { x: x + step * 0.08, y: bottom - height, width: Math.max(step * 0.84, 1), height,
      class: classes[i][4] ? 'bar apart' : 'bar' });
    const whole = shape('rect', { x, y: margin.top, width: step, height: bottom - margin.top,
      class: i === chosen ? 'target chosen' : 'target', onclick: () => tell(i) },
        shape('title', {}, class_text(classes, i)));
    svg.append(bar, whole);
    const is_last = i === classes.length - 1;
    if (is_last || (i % every === 0 && classes.length - 1 - i >= every * 1.5)) {
      // The label stands at the lower bound; a bar that is not a range has it in the middle.
      const at = classes[i][4] ? x + step / 2 : x;
      const at_edge = is_last && width - at < 40;
      if (at === x) svg.append(shape('line', { x1: x, x2: x, y1: bottom, y2: bottom + 5, class: 'axis' }));
      svg.append(plot_text(at_edge ? width - margin.right : at, bottom + 18, classes[i][0],
        at_edge ? 'end' : 'middle'));
    }
  });
  svg.append(shape('line', { x1: margin.left, x2: width - margin.right, y1: bottom, y2: bottom, class: 'axis' }));
  return svg;
}

function range_text(from, below, text_of) {
  if (below === null) return `${text_of(from)} or more`;
  if (below - from === 1) return text_of(from);
  return from === 0 ? `below ${text_of(below)}` : `${text_of(from)} to below ${text_of(below)}`;
}

function classes_of(rows, text_of) {
  return rows.map(
    ([from, below, count, bytes]) => [text_of(from), range_text(from, below, text_of), count, bytes, false]);
}

function show_sizes() {
  const classes = classes_of(data.sizes, bytes_text);
  add_histogram(by_id('size-plot'), 'Requested sizes', from_labels, {
    name: 'size', classes: () => classes, controls: () => null,
  });
}

function show_lifetimes() {
  const never = ['never freed', 'never freed', data.never_freed.count, data.never_freed.bytes, true];
  const clocks = {
    time: classes_of(data.lifetimes.time, time_text),
    allocations: classes_of(data.lifetimes.allocations, (count) => `${short_count(count)} alloc.`),
    bytes: classes_of(data.lifetimes.bytes, bytes_text),
  };
  for (const classes of Object.values(clocks)) {
    if (never[2] > 0) classes.push(never);
  }
  let clock = 'time';
  add_histogram(by_id('lifetime-plot'), 'From allocation to free',
    'In time, or in what the program allocated meanwhile, which does not depend on the machine. Objects with 0 ' +
    `allocations were freed before the next allocation. ${from_labels}`, {
      name: 'lifetime',
      classes: () => clocks[clock],
      controls: (changed) => choice('Lifetime in', 'lifetime-clock',
        [['time', 'time'], ['allocations', 'allocations'], ['bytes', 'bytes allocated']],
        (value) => { clock = value; changed(); }),
    });
}
