// What all plots share: a figure with a caption, axes, and a size that follows the window and the paper.

const margin = { left: 74, right: 14, top: 10, bottom: 30 };
const paper_width = 700;
const plots = [];
let printing = false;

// Draws a plot now and whenever its room changes; `draw(width)` returns an svg element.
function add_plot(room, draw) {
  const plot = { room, draw, width: 0 };
  plots.push(plot);
  redraw(plot);
  return () => redraw(plot);
}

function redraw(plot) {
  plot.width = plot.room.clientWidth;
  const width = printing ? paper_width : Math.max(plot.width, 280);
  plot.room.replaceChildren(plot.draw(width));
}

function redraw_all() {
  plots.forEach(redraw);
}

function follow_the_window() {
  new ResizeObserver(() => {
    if (!printing) plots.filter((plot) => plot.room.clientWidth !== plot.width).forEach(redraw);
  }).observe(by_id('report'));
  let opened = [];
  window.addEventListener('beforeprint', () => {
    printing = true;
    redraw_all();
    opened = [...document.querySelectorAll('.advice details:not([open])')];
    opened.forEach((details) => { details.open = true; });
  });
  window.addEventListener('afterprint', () => {
    printing = false;
    redraw_all();
    opened.forEach((details) => { details.open = false; });
  });
}

// A figure for the arrow keys: `steps` has `count` positions, and `show(position or null)` describes one.
function make_figure(title, explanation, steps) {
  const room = element('div', {
    class: 'plot', tabindex: '0', role: 'group', 'aria-roledescription': 'plot', 'aria-label': title,
  });
  if (steps) {
    room.setAttribute('aria-description', 'The left and right arrow keys step through the figures.');
    follow_keys(room, steps);
  }
  const figure = element('figure', {}, element('figcaption', {}, element('h3', {}, title),
    explanation ? element('p', { class: 'explanation' }, explanation) : null), room);
  return { figure, room };
}

function follow_keys(room, steps) {
  let position = null;
  const go = (to) => {
    position = Math.min(Math.max(to, 0), steps.count() - 1);
    steps.show(position);
  };
  room.addEventListener('keydown', (event) => {
    const from = position === null ? -1 : position;
    const page = Math.ceil(steps.count() / 20);
    const moves = {
      ArrowRight: from + 1, ArrowLeft: position === null ? steps.count() - 1 : from - 1,
      PageUp: from + page, PageDown: from - page, Home: 0, End: steps.count() - 1,
    };
    if (event.key === 'Escape') {
      position = null;
      steps.show(null);
    } else if (event.key in moves && !event.ctrlKey && !event.metaKey && !event.altKey && steps.count() > 0) {
      go(moves[event.key]);
      event.preventDefault();
    }
  });
}

// Round values from 0 to at least `max`, at least two.
function ticks_up_to(max, wanted, binary) {
  if (!(max > 0)) return [0, 1];
  const rough = max / wanted;
  let step = 2 ** Math.ceil(Math.log2(rough));
  if (!binary) {
    const decade = 10 ** Math.floor(Math.log10(rough));
    step = [1, 2, 5, 10].map((factor) => factor * decade).find((candidate) => candidate >= rough * 0.999);
  }
  const ticks = [];
  for (let i = 0; (i - 1) * step < max; ++i) ticks.push(i * step);
  return ticks;
}

function empty_plot(width, height, label) {
  return shape('svg', { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': label });
}

function plot_text(x, y, text, anchor = 'start', kind = 'tick') {
  return shape('text', { x, y, 'text-anchor': anchor, class: kind }, text);
}

// Draws grid lines with labels at the ticks of the vertical axis; returns the scale.
function draw_vertical_axis(svg, ticks, width, height, text_of) {
  const bottom = height - margin.bottom;
  const max = ticks[ticks.length - 1];
  const scale = (value) => bottom - (value / max) * (bottom - margin.top);
  for (const tick of ticks) {
    const y = scale(tick);
    svg.append(shape('line', { x1: margin.left, x2: width - margin.right, y1: y, y2: y, class: 'grid' }),
      plot_text(margin.left - 8, y + 4, text_of(tick), 'end'));
  }
  return scale;
}
