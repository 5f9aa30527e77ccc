// The advices: a table, and each one with its evidence and its code.

// "an object pool" for object_pool.
function verdict_text(verdict) {
  const words = verdict.replaceAll('_', ' ');
  return `${/^[aeiou]/.test(words) ? 'an' : 'a'} ${words}`;
}

function ends_text(low, high) {
  return low === high ? low : `${low} to ${high}`;
}

function interval_text({ low, high }) {
  if (high < 0) return `costs ${ends_text(time_text(-high), time_text(-low))}`;
  if (low < 0) return `costs up to ${time_text(-low)} or saves up to ${time_text(high)}`;
  return ends_text(time_text(low), time_text(high));
}

// The ends of a saving, of the CPU time.
function shares_text({ low, high }, open, cpu) {
  const least = percent_text(low / cpu);
  if (open && low >= 0) return `${least} or more`;
  const most = percent_text(high / cpu);
  return least === most ? least : `${least.split(no_break)[0]} to ${most}`;
}

// What to expect in the program: from runs of it where there were any, else around what the replay says.
function saving_text({ saving, in_runs: runs }) {
  const measured = runs && runs.decides ? runs : saving;
  if (!measured) return 'not measured';
  const expected = measured === runs ? runs.nanoseconds : saving.expected_nanoseconds;
  const open = measured !== runs && saving.open;
  const share = !measured.share_of_cpu ? '' :
    `, ${shares_text(expected, open, measured.nanoseconds.median / measured.share_of_cpu)} of the CPU time`;
  if (measured === runs) return `${interval_text(runs.nanoseconds)}${share}, in runs`;
  const ends = open && expected.low >= 0 ? `${time_text(expected.low)} or more` : interval_text(expected);
  const replayed = `${ends}${share}`;
  return runs ? `${replayed}, in a replay; a plan that counts the objects of each block in place of it: ` +
      `${interval_text(runs.nanoseconds)}, in runs` : replayed;
}

// Further measurements.
function more_savings(saving) {
  const facts = [['in a replay, on a clean heap', time_text(saving.nanoseconds.median)]];
  if (saving.fragmented_nanoseconds)
    facts.push(['on a fragmented heap', time_text(saving.fragmented_nanoseconds.median)]);
  if (saving.without_frees_nanoseconds)
    facts.push(['without the single frees', time_text(saving.without_frees_nanoseconds.median)]);
  if (saving.preload)
    facts.push([`${saving.preload.name} in place of malloc instead`, time_text(saving.preload.nanoseconds.median)]);
  return facts;
}

function memory_text(saving) {
  return saving ? `${bytes_text(saving.system_peak_bytes)} → ${bytes_text(saving.peak_bytes)}` : '';
}

function where_text(each) {
  const location = location_text(each);
  return `${shortened(each.function)}${location ? ` (${location})` : ''}`;
}

function advice_table(advices) {
  return table('All advices, most allocations first',
    ['', 'advice', 'where', 'of the allocations', 'saves', 'memory, malloc → advised'],
    advices.map((each, i) => [String(i + 1), element('a', { href: `#advice-${i + 1}` }, each.title), where_text(each),
      percent_text(each.share), saving_text(each), memory_text(each.saving)]), [3, 4, 5]);
}

// Without access to the clipboard (old browsers, untrusted pages) it selects the code, to be copied by hand.
async function copy(text, code, button) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    getSelection().selectAllChildren(code);
    button.textContent = 'Selected: press Ctrl+C';
  }
  setTimeout(() => { button.textContent = label; }, 2000);
}

function code_block(text, title) {
  const code = element('code', {}, text);
  const button = element('button', { type: 'button', class: 'copy', 'aria-live': 'polite',
    'aria-label': `Copy the code of: ${title}` }, 'Copy');
  button.addEventListener('click', () => {
    button.removeAttribute('aria-label');
    copy(text, code, button);
  });
  const block = element('pre', { tabindex: '0', 'aria-label': `Code of: ${title}` }, code);
  // Paper does not scroll: the longest line decides the size of the letters.
  block.style.setProperty('--letters', Math.max(...text.split('\n').map((line) => line.length)));
  return element('div', { class: 'code' }, button, block);
}

function evidence_rows(evidence) {
  const rows = [
    ['allocations', count_text(evidence.allocations)], ['bytes in all', bytes_text(evidence.bytes)],
    ['peak of live objects',
      `${plural(evidence.peak_objects, 'object', 'objects')}, ${bytes_text(evidence.peak_bytes)}`],
    ['different sizes', `${count_text(evidence.sizes)}; ` +
      `${percent_text(evidence.top_size_share)} are of ${bytes_text(evidence.top_size)}`],
    ['allocations for each object live at the peak', short_number(evidence.churn)],
    ['freed youngest first', percent_text(evidence.lifo_share)],
    ['never freed', percent_text(evidence.never_freed_share)],
    ['freed by another thread', percent_text(evidence.freed_by_other_thread_share)],
    ['threads', count_text(evidence.threads)],
  ];
  const { generations } = evidence;
  if (generations) {
    rows.push(['generations', `${count_text(generations.count)} with ${count_text(generations.objects)} objects`],
      ['bytes of a generation',
        `${bytes_text(generations.p50_bytes)} (median), ${bytes_text(generations.p99_bytes)} (99th percentile), ` +
        `${bytes_text(generations.max_bytes)} (maximum)`],
      ['arena bytes for each live byte', short_number(generations.expansion)]);
  }
  return rows;
}

function reason_text(each) {
  if (each.verdict !== 'leave') return '';
  if (each.candidate === 'leave') return `Leave it: ${each.reason}.`;
  return `Leave it: ${verdict_text(each.candidate)} would fit, but ${each.reason}` +
      `${each.saving || each.in_runs ? ` (${saving_text(each)})` : ''}.`;
}

function blockers_list(blockers) {
  if (blockers.length === 0) return null;
  return element('div', {}, element('h4', {}, 'Left on malloc, as they outlive the reset'), element('ul', {},
    blockers.map((each) => element('li', {}, `${where_text(each)}: ${plural(each.objects, 'object', 'objects')}`))));
}

function advice_entry(each, number) {
  const leave = each.verdict === 'leave';
  const facts = [['where', where_text(each)], ['a path to it', each.path],
    ['of the allocations', percent_text(each.share)]];
  if (each.scope) facts.unshift(['in', shortened(each.scope)]);
  if (!leave) facts.push(['saves', saving_text(each)]);
  if (!leave && each.in_runs)
    facts.push(['memory at the peak, in runs', `${each.in_runs.peak_ratio.toFixed(2)} times the program's`]);
  if (!leave && each.saving) facts.push(...more_savings(each.saving));
  if (!leave && each.saving) facts.push(['peak of memory, malloc → advised', memory_text(each.saving)]);
  return element('article', { id: `advice-${number}`, class: leave ? 'advice leave' : 'advice', tabindex: '-1' },
    element('h3', {}, `${number}. ${each.title}`),
    element('dl', { class: 'rows' }, facts.filter(([, text]) => text).map(
      ([name, text]) => [element('dt', {}, name), element('dd', {}, text)])),
    reason_text(each) ? element('p', {}, reason_text(each)) : null,
    each.cautions.length > 0 && !leave
      ? element('ul', { class: 'cautions' }, each.cautions.map((text) => element('li', {}, text))) : null,
    each.code ? code_block(each.code, each.title) : null,
    element('details', {}, element('summary', {}, 'Evidence'),
      element('dl', { class: 'rows' }, evidence_rows(each.evidence).map(
        ([name, text]) => [element('dt', {}, name), element('dd', {}, text)])),
      blockers_list(each.blockers)));
}

function advice_intro(advice) {
  if (advice.advices.length === 0) return 'The run has no allocations to advise about.';
  if (!data.measured && !advice.runs) {
    const why = data.sampling_period > 1 ? 'a sample cannot be replayed' : '--no-measure';
    return `An allocator for each site, by the lifetimes of its objects. ` +
      `Nothing was measured (${why}), so no savings are shown.`;
  }
  const resource = advice.of_resource
    ? 'These are the allocations of a resource that the program traced. Savings are relative to ' +
    'malloc in its place, not to the resource. ' : '';
  const runs = advice.runs
    ? `The program was run again, ${plural(advice.runs.rounds, 'time', 'times')} in each way: it takes ` +
    `${time_text(advice.cpu_ns)} of CPU time. What was measured so says "in runs". ` : '';
  if (!data.measured) return resource + runs;
  const share = advice.cpu_ns
    ? `, ${percent_text(advice.malloc_ns / advice.cpu_ns)} of ${time_text(advice.cpu_ns)} of CPU time ` +
      'without the recording' : '';
  const scaled = advice.malloc_replayed_share < 1
    ? ` (scaled from a sample of ${percent_text(advice.malloc_replayed_share)} of them)` : '';
  return `${resource}${runs}In a replay, all allocations and frees take ` +
    `${time_text(advice.malloc_ns)} with malloc${share}${scaled}. ` +
    `${advice.runs ? 'Other savings' : 'Savings'} were measured on the machine that made this page, ` +
    `by replaying only the allocations of an advice, ` +
    'with 95 % confidence.';
}

// The mallocs that can replace the system's without a change to the program.
function preloads_parts({ preloads, runs }) {
  if ((!data.measured && !runs) || preloads.length === 0) return [];
  const way = (name) => (name === 'acre' ? 'acre run'
    : name === 'acre + plan' ? 'acre run with its plan' : `LD_PRELOAD of ${name}`);
  if (runs) {
    return [table('Without any change to the program, in runs of it',
      ['', 'saves', 'at least', 'at most', 'memory at the peak'],
      preloads.map(({ name, nanoseconds, peak_ratio: peak }) => [way(name), time_text(nanoseconds.median),
        time_text(nanoseconds.low),
        time_text(nanoseconds.high), peak === null ? '' : `${peak.toFixed(2)} times`]), [1, 2, 3, 4])];
  }
  const is_known = preloads.some(({ nanoseconds, expected_nanoseconds: expected }) => expected.low < nanoseconds.low);
  if (!is_known) {
    return [table('Without any change to the program', ['', 'saves, in a replay'],
      preloads.map(({ name, nanoseconds }) => [way(name), time_text(nanoseconds.median)]), [1])];
  }
  return [table('Without any change to the program', ['', 'saves, in a replay', 'in the program, at least', 'at most'],
    preloads.map(({ name, nanoseconds, expected_nanoseconds: expected }) => [way(name), time_text(nanoseconds.median),
      time_text(expected.low), time_text(expected.high)]), [1, 2, 3]),
  element('p', { class: 'explanation' },
    'A replay sees neither where data lies nor page faults. In nine of ten programs that ' +
    'were run, the saving lay in such a range. acre try, and acre report --run, measure it.')];
}

function pinned_row(when, moment) {
  return [when, bytes_text(moment.resident_bytes), bytes_text(moment.live_bytes), bytes_text(moment.pinned_bytes),
    bytes_text(moment.free_bytes)];
}

// Which sites keep pages that are otherwise free, and what separating them would give.
function pinned_parts(pinned) {
  const { peak, end, separated } = pinned;
  const later = end.pinned_bytes > peak.pinned_bytes;
  const sites = (later ? end : peak).sites.slice(0, 10);
  const line_text = (site) => (site.file ? ` (${site.file.split('/').pop()}:${site.line})` : '');
  const site_text = (site) => `${shortened(site.function)}${line_text(site)}`;
  const parts = [element('h3', {}, 'Memory that malloc cannot give back'),
    element('p', { class: 'explanation' },
      'In a replay, without the code and stacks of the program. Bytes are pinned where they are free on a ' +
      'page that has live objects.'),
    table('Resident memory', ['', 'resident', 'live', 'pinned', 'free on other pages'],
      [pinned_row('when most is live', peak), pinned_row('at the end', end)], [1, 2, 3, 4]),
    table(`Sites that pin memory ${later ? 'at the end' : 'when most is live'}`,
      ['site', 'pinned', 'live objects', 'of'],
      sites.map((site) => [site_text(site), bytes_text(site.pinned_bytes), count_text(site.objects),
        bytes_text(site.live_bytes)]), [1, 2, 3])];
  if (separated && separated.worth_it) {
    parts.push(element('p', {}, `With ${separated.sites.map(site_text).join(', ')} in memory of their own: at most ` +
      `${bytes_text(separated.max_resident_bytes)} resident instead of ${bytes_text(pinned.max_resident_bytes)}, ` +
      `${bytes_text(separated.end_resident_bytes)} at the end instead of ${bytes_text(end.resident_bytes)}.`));
  }
  return parts;
}

function show_advice() {
  const { advice } = data;
  by_id('advice-intro').textContent = advice_intro(advice);
  by_id('advice-answer').append(...advice.answer.map((text) => element('p', { class: 'answer' }, text)));
  by_id('advice-preloads').append(...preloads_parts(advice));
  if (advice.advices.length > 0) by_id('advice-table').append(advice_table(advice.advices));
  by_id('advice-list').append(...advice.advices.map((each, i) => advice_entry(each, i + 1)));
  const rest = [];
  if (advice.omitted > 0)
    rest.push(`${plural(advice.omitted, 'more advice is', 'more advices are')} shown with --top.`);
  if (advice.small_sites.count > 0) {
    rest.push(`Leave ${plural(advice.small_sites.count, 'other site', 'other sites')} unchanged: ` +
      `each makes less than 1 % of the ` +
      `allocations, together ${percent_text(advice.small_sites.allocations / advice.allocations)}.`);
  }
  by_id('advice-rest').textContent = rest.join(' ');
  if (advice.pinned) by_id('pinned').append(...pinned_parts(advice.pinned));
}
