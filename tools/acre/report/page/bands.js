// The scopes of the program and the generations of advised scopes, as bands over time.

const lane_height = 34;

// The height of a band shows the bytes of its largest interval, relative to the lane; bands without bytes have full
// height.
function draw_lane(svg, lane, top, width) {
  const x = time.scale(width);
  const room = lane_height - 16;
  const max = Math.max(...lane.bands.map((band) => band[3]), 0);
  svg.append(plot_text(margin.left, top + 11, fitting(lane_title(lane), width - margin.left - margin.right), 'start',
    'lane-name'));
  for (const [begin, end, count, bytes] of lane.bands) {
    const height = max > 0 ? Math.max((bytes / max) * room, 2) : room;
    const text = `${time_text(begin)} to ${time_text(end)}` + (count > 1 ? `, ${count_text(count)} times` : '') +
      (bytes > 0 ? `, ${bytes_text(bytes)} in the largest one` : '');
    svg.append(shape('rect', {
      x: x(begin).toFixed(1), y: (top + 15 + room - height).toFixed(1),
      width: Math.max(x(end) - x(begin), 1).toFixed(1),
      height: height.toFixed(1), class: count > 1 ? 'band many' : 'band',
    }, shape('title', {}, text)));
  }
}

function lane_title(lane) {
  const name = shortened(lane.name);
  return data.threads.length > 1 ? `thread ${lane.thread}: ${name}` : name;
}

function lanes_table(label, caption, list, with_bytes) {
  const heads = ['scope', 'thread', 'times', 'time in all', 'longest'];
  if (with_bytes) heads.push('largest, bytes');
  return folded_table(label, caption, heads, () => list.lanes.map((lane) => {
    const row = [shortened(lane.name), count_text(lane.thread), count_text(lane.count), time_text(lane.total_ns),
      time_text(lane.longest_ns)];
    if (with_bytes) row.push(bytes_text(Math.max(...lane.bands.map((band) => band[3]), 0)));
    return row;
  }), [1, 2, 3, 4, 5]);
}

function show_lanes(into, title, explanation, list, with_bytes) {
  if (list.lanes.length === 0) {
    into.remove();
    return;
  }
  const { figure, room } = make_figure(title, explanation, time.steps);
  into.append(figure);
  const height = margin.top + list.lanes.length * lane_height + margin.bottom;
  let follow = () => {};
  moment.followers.push(() => follow());
  add_plot(room, (width) => {
    const svg = empty_plot(width, height, `${title}: ${list.lanes.map((lane) =>
      `${lane_title(lane)} ${plural(lane.count, 'time', 'times')}`).join('; ')}.`);
    draw_pauses(svg, width, height);
    list.lanes.forEach((lane, i) => draw_lane(svg, lane, margin.top + i * lane_height, width));
    draw_time_axis(svg, width, height);
    follow = draw_moment(svg, width, height);
    return svg;
  });
  if (list.omitted > 0) {
    figure.append(element('p', { class: 'explanation' },
      `${plural(list.omitted, 'more lane is', 'more lanes are')} not shown.`));
  }
  figure.append(lanes_table('As a table', title, list, with_bytes));
}

// What each scope allocated in all threads, as acre info shows it.
function scope_figures(into, scopes) {
  if (scopes.length === 0) return;
  into.append(table('What the scopes allocate, most bytes first',
    ['scope', 'runs', 'threads', 'allocations', 'bytes', 'in one run: median', '99th percentile', 'largest',
      'not freed in it'],
    scopes.map((each) => [shortened(each.name), count_text(each.runs), count_text(each.threads),
      count_text(each.allocations), bytes_text(each.bytes),
      bytes_text(each.run_bytes.p50), bytes_text(each.run_bytes.p99), bytes_text(each.run_bytes.max),
      bytes_text(each.left.bytes)]), [1, 2, 3, 4, 5, 6, 7, 8]));
}

function show_bands() {
  show_lanes(by_id('scopes'), 'Scopes',
    'The scopes that the program names, in each thread. A lighter band stands for several close together.',
    data.scopes, false);
  scope_figures(by_id('scopes'), data.info.scopes);
  show_lanes(by_id('generations'), 'Generations of the advised scopes',
    'From the first allocation of a scope to the moment when all its objects are freed: ' +
    'there an arena would be reset. ' +
    'The height shows the bytes allocated; a lighter band stands for several, as high as the largest.',
    data.generations, true);
}
