/*
 * Jobs as they are counted, twice each: for everybody ("") and for their owner. Key of a final job:
 * [owner, status, day, hour, minute] of its end, counted from 1970; value: the milliseconds it took.
 * Key of any other: [owner, status], value: 0. Reduced by _stats.
 */
function map(doc) {
  if (doc.type !== 'job') return;
  var units = [86400000, 3600000, 60000];
  var steps = Array.isArray(doc.steps) ? doc.steps : [];

  // What no date can hold is no time; the square of it might be no number either, which _stats needs.
  function isTime(value) {
    return typeof value === 'number' && Math.abs(value) <= 8.64e15;
  }

  function has(state) {
    return steps.some(function (step) {
      return !!step && step.state === state;
    });
  }

  function open() {
    if (doc.state === '$$paused') return 'paused';
    if (has('$$ready') || has('$$active')) return 'running';
    if (has('$$waiting')) return 'waiting';
    var due = typeof doc.state === 'string' ? doc.next_due : doc.next_due || doc.exec_after;
    if (due) return steps.length === 0 ? 'scheduled' : 'waiting';
    return steps.length === 0 ? 'queued' : 'running';
  }

  function ended() {
    if (doc.state === '$$cancelled') return 'cancelled';
    return doc.exit === 0 ? 'succeeded' : 'failed';
  }

  var isFinal = doc.state === '$$complete' || doc.state === '$$cancelled';
  var key = [isFinal ? ended() : open()];
  var value = 0;
  if (isFinal && isTime(doc.end)) {
    units.forEach(function (unit) {
      key.push(Math.floor(doc.end / unit));
    });
    if (isTime(doc.start)) value = Math.max(0, doc.end - doc.start);
  }
  var owner = typeof doc.owner === 'string' && doc.owner ? doc.owner : 'DEFAULT';
  emit([''].concat(key), value);
  emit([owner].concat(key), value);
}
