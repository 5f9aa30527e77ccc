// Makes elements. Texts from the trace become text nodes, never markup.

const svg_namespace = 'http://www.w3.org/2000/svg';

function with_children(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === undefined || value === null) continue;
    if (name.startsWith('on')) {
      made.addEventListener(name.slice(2), value);
    } else {
      made.setAttribute(name, value === true ? '' : value);
    }
  }
  made.append(...children.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== ''));
  return made;
}

function element(tag, attributes = {}, ...children) {
  return with_children(document.createElement(tag), attributes, children);
}

function shape(tag, attributes = {}, ...children) {
  return with_children(document.createElementNS(svg_namespace, tag), attributes, children);
}

function by_id(id) {
  return document.getElementById(id);
}

// A table; the columns at the positions in `numbers` are right-aligned figures. On a narrow screen each cell is a line
// that begins with the name of its column, so that none is out of sight.
function table(caption, heads, rows, numbers = []) {
  const kind = (column) => (numbers.includes(column) ? 'number' : heads[column] === '' ? null : 'words');
  const head = element('tr', {}, heads.map((text, i) => element('th', { scope: 'col', class: kind(i) }, text)));
  const body = rows.map((cells) =>
    element('tr', {}, cells.map((cell, i) =>
      element(i === 0 ? 'th' : 'td', { scope: i === 0 ? 'row' : null, class: kind(i), 'data-head': heads[i] }, cell))));
  return element('div', { class: 'scroll', role: 'region', 'aria-label': caption, tabindex: '0' },
    element('table', {}, element('caption', {}, caption), element('thead', {}, head), element('tbody', {}, body)));
}

// A folded table with the figures of a plot, for readers who cannot see it. Its rows are made when it is opened.
function folded_table(label, caption, heads, rows_of, numbers) {
  const details = element('details', { class: 'as-table' }, element('summary', {}, label));
  details.addEventListener('toggle', () => {
    if (details.open && details.children.length === 1) details.append(table(caption, heads, rows_of(), numbers));
  });
  return details;
}

// A row of radio buttons; calls `changed` with the chosen value.
function choice(legend, name, options, changed) {
  return element('fieldset', { class: 'choice' }, element('legend', {}, legend),
    options.map(([value, text], i) =>
      element('label', {},
        element('input', { type: 'radio', name, value, checked: i === 0, onchange: () => changed(value) }), text)));
}
