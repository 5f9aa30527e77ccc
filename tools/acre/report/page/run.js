// The recording: facts of the run, notices, sites and threads.

function add_facts(facts) {
  by_id('facts').append(...facts.map(([name, value, more]) =>
    element('div', {}, element('dt', {}, name), element('dd', {}, value),
      more ? element('dd', { class: 'more' }, more) : null)));
}

// A long command line is folded to its first lines.
function command_line(text) {
  return text.length < 160 ? text : element('details', {}, element('summary', {}, text));
}

function never_freed_text(info) {
  const objects = plural(info.never_freed.count, 'object', 'objects');
  return info.missing ? `${objects}; their frees may be in the missing part of the trace` : objects;
}

function cpu_text(info) {
  if (info.cpu_us === null) return 'CPU time not known';
  return `CPU time ${time_text(info.cpu_us * 1000)}, ` +
    `of which about ${time_text(info.recording_us * 1000)} by the recording`;
}

function show_run() {
  const { info } = data;
  const program = info.command.length > 0 ? file_name(info.command[0]) : 'the program';
  document.title = `acre report: ${program}`;
  by_id('program').textContent = program;
  by_id('command').append(command_line(info.command.join(' ')));
  by_id('trace').textContent = file_name(info.trace);
  add_facts([
    ['Allocations', count_text(info.allocations), `${count_text(info.reallocations)} by realloc`],
    ['Allocated', bytes_text(info.bytes), `in ${plural(info.threads, 'thread', 'threads')}`],
    ['Peak', bytes_text(info.peak_bytes), `${plural(info.peak_objects, 'object', 'objects')} at most`],
    ['Never freed', bytes_text(info.never_freed.bytes), never_freed_text(info)],
    ['Freed elsewhere', info.frees > 0 ? percent_text(info.freed_by_other_thread / info.frees) : '0.0 %',
      'of the frees, by another thread'],
    ['Time', time_text(info.duration_ns), cpu_text(info)],
    ['Recorded', info.date.slice(0, 10), info.date.slice(11)],
    ['Ended', info.exit_status === null ? 'not known' : `status ${info.exit_status}`, info.machine],
  ]);
}

// What the trace lacks; shown before all figures.
function show_notices() {
  const { info } = data;
  const notices = [...info.notes];
  if (info.missing) notices.unshift(`The trace is incomplete: ${info.missing}`);
  if (data.sampling_period > 1) {
    notices.push(`One allocation in ${count_text(data.sampling_period)} was recorded, at random: ` +
      `counts and bytes are estimates of the whole. ` +
      'Such a trace lacks the order of allocations and frees, so nothing that needs it is advised.');
  }
  if (!data.stacks_at_free)
    notices.push('The trace has no stacks at frees, so no arena can be advised: record without --no-free-stacks.');
  if (info.unmatched_frees > 0)
    notices.push(`${plural(info.unmatched_frees, 'free', 'frees')} without a recorded allocation are left out.`);
  if (data.pauses.length > 0) notices.push('The recording was paused; the plots over time show the pauses in grey.');
  by_id('notices').append(...notices.map((text) => element('p', { class: 'notice' }, text)));
}

function show_sites() {
  by_id('site-table').append(table('Sites that allocate the most bytes',
    ['site', 'allocations', 'bytes', 'peak', 'sizes', 'never freed', 'for example'],
    data.info.sites.map((site) => [where_text(site), count_text(site.allocations), bytes_text(site.bytes),
      bytes_text(site.peak_bytes),
      site.smallest === site.largest ? bytes_text(site.largest)
        : `${bytes_text(site.smallest)} to ${bytes_text(site.largest)}`,
      count_text(site.never_freed.count), site.path]), [1, 2, 3, 4, 5]));
  by_id('thread-table').append(table('Threads, most allocations first',
    ['thread', 'allocations', 'bytes', 'frees', 'frees of other threads\' objects'],
    data.threads.map((each) => [String(each.thread), count_text(each.allocations), bytes_text(each.bytes),
      count_text(each.frees),
      count_text(each.frees_of_others)]), [1, 2, 3, 4]));
  const omitted = data.info.threads - data.threads.length;
  if (omitted <= 0) return;
  by_id('thread-table').append(
    element('p', { class: 'explanation' }, `${plural(omitted, 'more thread is', 'more threads are')} not shown.`));
}
