// Figures as people read them, each with its unit.

const no_break = '\u00a0'; // a figure and its unit stay in one line

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

// As much of a text as fits; a letter of a plot is about 7 wide.
function fitting(text, width, letter = 7) {
  const letters = Math.floor(width / letter);
  return text.length <= letters ? text : letters < 3 ? '' : `${text.slice(0, letters - 1)}…`;
}

// Names that templates make: their beginning and their end.
function shortened(name, letters = 120) {
  const half = Math.floor(letters / 2);
  return name.length <= letters ? name : `${name.slice(0, half)} … ${name.slice(-half)}`;
}

function file_name(path) {
  return path.slice(path.lastIndexOf('/') + 1);
}

function place_text(site) {
  if (!site.file) return '';
  return site.line ? `${file_name(site.file)}:${site.line}` : file_name(site.file);
}
