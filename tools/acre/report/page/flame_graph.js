// The flame graph: drawn from the top down; zoom by click or Enter, search, arrow keys.

const row_height = 21;
const letter_width = 7.3;
const min_box_width = 1.5;

const flame_weights = {
  bytes: ['bytes allocated', bytes_text],
  allocations: ['allocations', (count) => plural(count, 'allocation', 'allocations')],
  lifetime_ns: ['lifetime', time_text],
  peak_bytes: ['live at the peak', bytes_text],
  lost_bytes: ['never freed', bytes_text],
};

// The tree with the values of one weight.
function flame_tree(flames, weight) {
  const values = flames.weights[weight];
  const children = flames.parents.map(() => []);
  for (let node = 1; node < flames.parents.length; ++node) children[flames.parents[node]].push(node);
  for (const list of children) list.sort((a, b) => values[b] - values[a] || a - b);
  const own = values.map(
    (value, node) => Math.max(value - children[node].reduce((sum, child) => sum + values[child], 0), 0));
  return { parents: flames.parents, functions: flames.functions, names: flames.names, values, children, own };
}

function name_of(tree, node) {
  return node === 0 ? 'the whole program' : tree.names[tree.functions[node]][0];
}

function full_name_of(tree, node) {
  return node === 0 ? '' : tree.names[tree.functions[node]][1];
}

function only_passes_on(tree, node) {
  return node !== 0 && tree.names[tree.functions[node]][2] === 1;
}

// The boxes if `zoomed` has the full width: its callers have it too, its callees get their share. Leaves out boxes
// narrower than `min_width`.
function flame_boxes(tree, zoomed, width, min_width) {
  const boxes = [];
  const above = [];
  for (let node = zoomed; node !== 0; node = tree.parents[node]) above.unshift(tree.parents[node]);
  above.forEach((node, row) => boxes.push({ node, row, x: 0, width, above: true }));
  const open = [{ node: zoomed, row: above.length, x: 0, width, above: false }];
  while (open.length > 0) {
    const box = open.pop();
    boxes.push(box);
    const value = tree.values[box.node];
    let x = box.x;
    const below = [];
    for (const child of tree.children[box.node]) {
      const child_width = value > 0 ? (tree.values[child] / value) * box.width : 0;
      if (child_width >= min_width) below.push({ node: child, row: box.row + 1, x, width: child_width, above: false });
      x += child_width;
    }
    open.push(...below.reverse());
  }
  return boxes;
}

// The nodes whose function name contains the text, and the sum of the outermost ones.
function flame_matches(tree, wanted) {
  const text = wanted.trim().toLowerCase();
  const found = new Set();
  let sum = 0;
  if (text === '') return { found, sum };
  const open = [[0, false]];
  while (open.length > 0) {
    const [node, inside] = open.pop();
    const fits = node !== 0 && `${name_of(tree, node)} ${full_name_of(tree, node)}`.toLowerCase().includes(text);
    if (fits) found.add(node);
    if (fits && !inside) sum += tree.values[node];
    for (const child of tree.children[node]) open.push([child, inside || fits]);
  }
  return { found, sum };
}

// The sums of each function, for itself and with its callees. Recursion is folded, so a path has a function once.
function flame_functions(tree) {
  const functions = new Map();
  for (let node = 1; node < tree.parents.length; ++node) {
    const entry = functions.get(tree.functions[node]) || { node, own: 0, whole: 0 };
    entry.own += tree.own[node];
    entry.whole += tree.values[node];
    functions.set(tree.functions[node], entry);
  }
  return [...functions.values()].sort((a, b) => b.whole - a.whole || a.node - b.node);
}

class flame_graph {
  constructor(flames) {
    this.flames = flames;
    this.weight = 'bytes';
    this.tree = flame_tree(flames, this.weight);
    this.zoomed = 0;
    this.current = 0;
    this.search = '';
    this.readout = element('p', { class: 'readout', role: 'status' });
    this.found = element('p', { class: 'readout', role: 'status' });
    this.room = element('div', {
      class: 'plot flame', role: 'tree', tabindex: '0', 'aria-label': 'Flame graph',
      'aria-description': 'Arrow keys move, Enter zooms in on a function, Escape zooms out, Home shows all.',
    });
    this.room.addEventListener('keydown', (event) => this.follow_key(event));
    this.room.addEventListener('focus', () => this.tell(this.current));
  }

  show() {
    const input = element('input', {
      type: 'search', id: 'flame-search', autocomplete: 'off', spellcheck: 'false',
      oninput: () => { this.search = input.value; this.draw(); },
      onkeydown: (event) => { if (event.key === 'Escape') { input.value = ''; this.search = ''; this.draw(); } },
    });
    by_id('flame-controls').append(
      choice('Width shows', 'flame-weight', Object.entries(flame_weights).map(([key, [text]]) => [key, text]),
        (value) => this.choose_weight(value)),
      element('div', { class: 'search' }, element('label', { for: 'flame-search' }, 'Find a function'), input),
      element('button', { type: 'button', id: 'flame-whole', onclick: () => this.zoom(0) }, 'Whole program'));
    by_id('flame-graph').append(this.found, this.room, this.readout, element('p', { class: 'explanation' },
      'Grey boxes are functions of the C and C++ libraries and wrappers of malloc. Recursion is folded into one box. ' +
      'Paths ' +
      `below ${short_number(this.flames.min_share * 100)} % of every weight are not drawn. ` +
      `Lifetimes are summed over all objects; they end at the free or ` +
      'at the end of the recording.'));
    this.draw = add_plot(this.room, (width) => this.drawing(width));
    this.fill_table();
    this.tell(0);
  }

  choose_weight(weight) {
    this.weight = weight;
    this.tree = flame_tree(this.flames, weight);
    if (!(this.tree.values[this.zoomed] > 0)) this.zoomed = 0;
    this.current = this.zoomed;
    this.draw();
    this.fill_table();
    this.tell(this.current);
  }

  zoom(node) {
    this.zoomed = node;
    this.current = node;
    this.draw();
    this.tell(node);
  }

  move_to(node) {
    const { id } = this.box_of(node) || {};
    if (!id) return;
    this.current = node;
    for (const each of this.room.querySelectorAll('.current')) each.classList.remove('current');
    const box = by_id(id);
    box.classList.add('current');
    box.scrollIntoView({ block: 'nearest' });
    this.room.setAttribute('aria-activedescendant', id);
    this.tell(node);
  }

  box_of(node) {
    return this.boxes.find((box) => box.node === node);
  }

  // The neighbour in the same row, or the node itself.
  beside(node, step) {
    const own = this.box_of(node);
    const row = this.boxes.filter((box) => box.row === own.row).sort((a, b) => a.x - b.x);
    const other = row[row.indexOf(own) + step];
    return other ? other.node : node;
  }

  follow_key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.room) return;
    const below = this.tree.children[this.current].find((child) => this.box_of(child));
    const actions = {
      ArrowDown: () => this.move_to(below === undefined ? this.current : below),
      ArrowUp: () => this.move_to(this.tree.parents[this.current]),
      ArrowRight: () => this.move_to(this.beside(this.current, 1)),
      ArrowLeft: () => this.move_to(this.beside(this.current, -1)),
      Enter: () => this.zoom(this.current),
      ' ': () => this.zoom(this.current),
      Escape: () => this.zoom(this.tree.parents[this.zoomed]),
      Home: () => this.zoom(0),
    };
    if (!(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  }

  text_of(node) {
    const text = flame_weights[this.weight][1];
    const all = this.tree.values[0];
    const share = all > 0 ? this.tree.values[node] / all : 0;
    return `${name_of(this.tree, node)}: ${text(this.tree.values[node])} (${percent_text(share)}), ` +
      `of which ${text(this.tree.own[node])} itself`;
  }

  tell(node) {
    const full = full_name_of(this.tree, node);
    this.readout.textContent = `${this.text_of(node)}.${full ? ` In full: ${full}` : ''}`;
  }

  drawing(width) {
    this.boxes = flame_boxes(this.tree, this.zoomed, width, min_box_width);
    const matches = flame_matches(this.tree, this.search);
    this.tell_matches(matches);
    if (!this.box_of(this.current)) this.current = this.zoomed;
    const rows = this.boxes.reduce((max, box) => Math.max(max, box.row), 0) + 1;
    const svg = empty_plot(width, rows * row_height, '');
    svg.setAttribute('role', 'presentation');
    svg.removeAttribute('aria-label');
    for (const box of this.boxes) svg.append(this.drawn_box(box, matches.found));
    this.room.setAttribute('aria-activedescendant', this.box_of(this.current).id);
    return svg;
  }

  drawn_box(box, found) {
    const { node } = box;
    box.id = `flame-${node}`;
    const kinds = ['box', found.has(node) ? 'match'
      : only_passes_on(this.tree, node) ? 'library' : `tint-${this.tree.functions[node] % 4}`];
    if (box.above) kinds.push('above');
    if (node === this.current) kinds.push('current');
    const shown = fitting(name_of(this.tree, node), box.width - 8, letter_width);
    return shape('g', {
      id: box.id, class: kinds.join(' '), role: 'treeitem', 'aria-level': box.row + 1, 'aria-label': this.text_of(node),
      'aria-selected': node === this.current ? 'true' : 'false',
      onclick: () => { this.zoom(node); this.room.focus({ preventScroll: true }); },
      onpointerenter: () => this.tell(node),
    },
    shape('title', {}, this.text_of(node)),
    shape('rect', { x: box.x.toFixed(1), y: box.row * row_height, width: Math.max(box.width - 1, 1).toFixed(1),
      height: row_height - 2, rx: 2 }),
    shown ? plot_text((box.x + 4).toFixed(1), box.row * row_height + 14, shown, 'start', 'name') : null);
  }

  tell_matches({ found, sum }) {
    const all = this.tree.values[0];
    this.found.textContent = this.search.trim() === '' ? '' : found.size === 0 ? 'No function has this name.'
      : `${plural(found.size, 'box', 'boxes')} found, with ${percent_text(all > 0 ? sum / all : 0)} of all.`;
  }

  fill_table() {
    const [title, text] = flame_weights[this.weight];
    const all = this.tree.values[0];
    const share = (value) => percent_text(all > 0 ? value / all : 0);
    const shown = by_id('flame-table').querySelector('details');
    const table = folded_table('As a table', `Functions by ${title}`,
      ['function', 'itself', 'share', 'with its callees', 'share'],
      () => flame_functions(this.tree).slice(0, 60).map(({ node, own, whole }) =>
        [name_of(this.tree, node), text(own), share(own), text(whole), share(whole)]), [1, 2, 3, 4]);
    table.open = shown !== null && shown.open;
    by_id('flame-table').replaceChildren(table);
  }
}

function show_flames() {
  new flame_graph(data.flames).show();
}
