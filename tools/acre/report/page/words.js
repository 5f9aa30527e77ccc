// Figures with units, for people.

const no_break = '\u00a0'; // keeps a figure and its unit on one line

function count_text(count) {
  return Math.round(count).toLocaleString('en-US');
}

function short_number(value) {
  if (value >= 99.95 || value === Math.round(value)) return String(Math.round(value));
  return value.toFixed(value >= 9.995 ? 1 : 2).replace(/\.?0+$/, '');
}

function in_units(value, base, units) {
  let unit = 0;
  while (value >= base * 0.99995 && unit + 1 < units.length) {
    value /= base;
    ++unit;
  }
  return units[unit] === '' ? short_number(value) : `${short_number(value)}${no_break}${units[unit]}`;
}

function bytes_text(bytes) {
  return in_units(bytes, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB', 'ZiB']);
}

// Thousands and millions, for axes and rates.
function short_count(count) {
  return in_units(count, 1000, ['', 'k', 'M', 'G', 'T', 'P', 'E']);
}

function time_text(nanoseconds) {
  const size = Math.abs(nanoseconds);
  const sign = nanoseconds < 0 ? '-' : '';
  if (size >= 7200e9) return `${sign}${short_number(size / 3600e9)}${no_break}h`;
  return sign + in_units(size, 1000, ['ns', 'µs', 'ms', 's']);
}

function percent_text(share) {
  const percent = share * 100;
  if (percent !== 0 && Math.abs(percent) < 0.05) return `<0.1${no_break}%`;
  return `${percent.toFixed(1)}${no_break}%`;
}

function plural(count, one, many) {
  return `${count_text(count)} ${count === 1 ? one : many}`;
}

// Cuts a text to the width; a letter in a plot is about 7 wide.
function fitting(text, width, letter = 7) {
  const letters = Math.floor(width / letter);
  return text.length <= letters ? text : letters < 3 ? '' : `${text.slice(0, letters - 1)}…`;
}

// Removes what is nested deeper than `max` brackets: "a<b<c>>::f(d<e>)" with 1 gives "a<b<…>>::f(d<…>)".
function less_deep(name, max) {
  let depth = 0;
  let shown = '';
  for (const token of name.split(/(operator(?:<=>|<<|>>|->|<=|>=|<|>|\(\))|->|\(\)|[<>()])/)) {
    const opens = token === '<' || token === '(';
    const closes = token === '>' || token === ')';
    if (opens) ++depth;
    if (depth <= max || (depth === max + 1 && (opens || closes))) shown += token;
    if (opens && depth === max + 1) shown += '…';
    if (closes) depth = Math.max(depth - 1, 0);
  }
  return shown;
}

// Shortens a name by its template arguments first; the function's own name at the end stays.
function shortened(name, letters = 120) {
  let shown = name;
  for (let max = 5; max >= 0 && shown.length > letters; --max) shown = less_deep(name, max);
  const half = Math.floor(letters / 2);
  return shown.length <= letters ? shown : `${shown.slice(0, half)} … ${shown.slice(-half)}`;
}

function file_name(path) {
  return path.slice(path.lastIndexOf('/') + 1);
}

function location_text(site) {
  if (!site.file) return '';
  return site.line ? `${file_name(site.file)}:${site.line}` : file_name(site.file);
}
