// Live bytes and allocation rates over time, and the chosen moment that all plots over time share.

const moment = {
  bucket: null,
  followers: [],
  choose(bucket) {
    this.bucket = bucket;
    by_id('moment').textContent = this.text(bucket);
    for (const follow of this.followers) follow();
  },
  text(bucket) {
    if (bucket === null) return 'No moment is selected.';
    const { peak_bytes, allocations, bytes, frees } = data.timeline;
    return `${time_text(bucket * time.bucket)} to ${time_text((bucket + 1) * time.bucket)}: at most ` +
      `${bytes_text(peak_bytes[bucket])} live; ${plural(allocations[bucket], 'allocation', 'allocations')} of ` +
      `${bytes_text(bytes[bucket])} in all, ${plural(frees[bucket], 'free', 'frees')}.`;
  },
};

const time = {
  get bucket() { return data.timeline.bucket_ns; },
  get buckets() { return data.timeline.peak_bytes.length; },
  get end() { return Math.max(this.buckets, 1) * this.bucket; },
  scale(width) {
    return (nanoseconds) => margin.left + (nanoseconds / this.end) * (width - margin.left - margin.right);
  },
  steps: { count: () => data.timeline.peak_bytes.length, show: (bucket) => moment.choose(bucket) },
};

function draw_time_axis(svg, width, height) {
  const x = time.scale(width);
  const y = height - margin.bottom;
  const ticks = ticks_up_to(time.end, Math.max(Math.floor(width / 130), 2), false).filter((tick) => tick <= time.end);
  for (const tick of ticks) {
    const anchor = tick > time.end * 0.94 ? 'end' : 'middle';
    svg.append(shape('line', { x1: x(tick), x2: x(tick), y1: y, y2: y + 5, class: 'axis' }),
      plot_text(x(tick), y + 20, tick === 0 ? '0' : time_text(tick), anchor));
  }
  svg.append(shape('line', { x1: margin.left, x2: width - margin.right, y1: y, y2: y, class: 'axis' }));
}

// Draws a line at the chosen moment, which the pointer moves.
function draw_moment(svg, width, height) {
  const x = time.scale(width);
  const line = shape('line', { y1: margin.top, y2: height - margin.bottom, class: 'moment' });
  const follow = () => {
    line.classList.toggle('absent', moment.bucket === null);
    if (moment.bucket === null) return;
    const at = x((moment.bucket + 0.5) * time.bucket);
    line.setAttribute('x1', at);
    line.setAttribute('x2', at);
  };
  follow();
  svg.append(line);
  svg.addEventListener('pointermove', (event) => {
    const box = svg.getBoundingClientRect();
    const at = (event.clientX - box.left) * (width / box.width) - margin.left;
    const bucket = Math.floor((at / (width - margin.left - margin.right)) * time.buckets);
    if (bucket >= 0 && bucket < time.buckets && bucket !== moment.bucket) moment.choose(bucket);
  });
  return follow;
}

function draw_pauses(svg, width, height) {
  const x = time.scale(width);
  for (const [begin, end] of data.pauses) {
    svg.append(shape('rect', {
      x: x(begin), width: Math.max(x(end) - x(begin), 1), y: margin.top,
      height: height - margin.top - margin.bottom, class: 'pause',
    }, shape('title', {}, `not recorded for ${time_text(end - begin)}`)));
  }
}

function step_path(values, x, y) {
  let path = '';
  values.forEach((value, i) => {
    path += `${i === 0 ? 'M' : 'L'}${x(i * time.bucket).toFixed(1)} ${y(value).toFixed(1)}`;
    path += `H${x((i + 1) * time.bucket).toFixed(1)}`;
  });
  return path;
}

// Adds a curve over time; `values` may change between drawings.
function add_time_plot(into, title, explanation, height, curve) {
  const { figure, room } = make_figure(title, explanation, time.steps);
  into.append(figure);
  let follow = () => {};
  moment.followers.push(() => follow());
  const again = add_plot(room, (width) => {
    const values = curve.values();
    const max = values.reduce((a, b) => Math.max(a, b), 0);
    const svg = empty_plot(width, height, curve.label(max));
    draw_pauses(svg, width, height);
    const y = draw_vertical_axis(svg, ticks_up_to(max, 4, curve.binary()), width, height, curve.text);
    const x = time.scale(width);
    const path = step_path(values, x, y);
    if (path) {
      svg.append(shape('path', { d: `${path}V${y(0)}H${x(0)}Z`, class: `area ${curve.kind}` }),
        shape('path', { d: path, class: `line ${curve.kind}` }));
    }
    draw_time_axis(svg, width, height);
    follow = draw_moment(svg, width, height);
    return svg;
  });
  return { figure, again };
}

// The timeline in at most 40 rows, to keep the table readable.
function time_rows() {
  const { peak_bytes, last_bytes, allocations, bytes, frees } = data.timeline;
  const together = Math.ceil(time.buckets / 40);
  const sum = (values, from) => values.slice(from, from + together).reduce((a, b) => a + b, 0);
  const rows = [];
  for (let from = 0; from < time.buckets; from += together) {
    const until = Math.min(from + together, time.buckets);
    rows.push([time_text(from * time.bucket), bytes_text(Math.max(...peak_bytes.slice(from, until))),
      bytes_text(last_bytes[until - 1]), count_text(sum(allocations, from)), bytes_text(sum(bytes, from)),
      count_text(sum(frees, from))]);
  }
  return rows;
}

function show_live_bytes() {
  const { peak_bytes } = data.timeline;
  const { figure } = add_time_plot(by_id('live'), 'Live bytes', 'Allocated and not yet freed.', 220, {
    kind: 'first',
    values: () => peak_bytes,
    binary: () => true,
    text: bytes_text,
    label: (max) => `Live bytes over ${time_text(time.end)}: at most ${bytes_text(max)}.`,
  });
  figure.append(folded_table('As a table', 'The run over time',
    ['from', 'peak', 'live at the end', 'allocations', 'bytes allocated', 'frees'], time_rows, [0, 1, 2, 3, 4, 5]));
}

function show_rates() {
  const per_second = 1e9 / time.bucket;
  const rates = {
    allocations: [data.timeline.allocations, (rate) => `${short_count(rate)}/s`, false],
    bytes: [data.timeline.bytes, (rate) => `${bytes_text(rate)}/s`, true],
    frees: [data.timeline.frees, (rate) => `${short_count(rate)}/s`, false],
  };
  let shown = 'allocations';
  const { figure, again } = add_time_plot(by_id('rate'), 'Allocation rate', '', 180, {
    kind: 'second',
    values: () => rates[shown][0].map((count) => count * per_second),
    binary: () => rates[shown][2],
    text: (rate) => rates[shown][1](rate),
    label: (max) => `Rate of ${shown} over ${time_text(time.end)}: at most ${rates[shown][1](max)}.`,
  });
  figure.querySelector('figcaption').append(choice('Show', 'rate',
    [['allocations', 'allocations'], ['bytes', 'bytes'], ['frees', 'frees']], (value) => { shown = value; again(); }));
}
