// Where the boxes of the flame graph lie; no element is touched here.

// The tree with what each node is made of, for one weight.
function flame_tree(flames, weight) {
  const values = flames.weights[weight];
  const children = flames.parents.map(() => []);
  for (let node = 1; node < flames.parents.length; ++node) children[flames.parents[node]].push(node);
  for (const list of children) list.sort((a, b) => values[b] - values[a] || a - b);
  const own = values.map((value, node) => Math.max(value - children[node].reduce((sum, child) => sum + values[child], 0), 0));
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

// The boxes when `zoomed` is as wide as the graph: those above it whole, those below it in proportion. Boxes narrower
// than `least` are left out.
function flame_boxes(tree, zoomed, width, least) {
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
      if (child_width >= least) below.push({ node: child, row: box.row + 1, x, width: child_width, above: false });
      x += child_width;
    }
    open.push(...below.reverse());
  }
  return boxes;
}

// The nodes whose function is named like that, and the share of the outermost of them.
function flame_matches(tree, wanted) {
  const text = wanted.trim().toLowerCase();
  const found = new Set();
  let sum = 0;
  if (text === '') return { found, sum };
  const open = [[0, false]];
  while (open.length > 0) {
    const [node, beneath] = open.pop();
    const fits = node !== 0 && `${name_of(tree, node)} ${full_name_of(tree, node)}`.toLowerCase().includes(text);
    if (fits) found.add(node);
    if (fits && !beneath) sum += tree.values[node];
    for (const child of tree.children[node]) open.push([child, beneath || fits]);
  }
  return { found, sum };
}

// What each function holds, itself and with its calls; a function stands once on a path.
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
