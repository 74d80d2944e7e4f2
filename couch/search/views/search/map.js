/*
 * Jobs as they are searched. Key: [what, value …, when]; `when` is the start in epoch milliseconds
 * (the end of a job that never began; the highest there is for one that is new, so that it comes
 * first), value: [flow, owner, status, name of the failure, when it is due]. The status is that of
 * the last change: a job may be due since.
 */
function map(doc) {
  if (doc.type !== 'job') return;
  var most = 50;
  var steps = Array.isArray(doc.steps) ? doc.steps : [];
  var begun = typeof doc.state === 'string';

  function text(value) {
    return typeof value === 'string' ? value : '';
  }

  function number(value) {
    return typeof value === 'number' && isFinite(value);
  }

  function has(state) {
    return steps.some(function (step) {
      return !!step && step.state === state;
    });
  }

  function time(value) {
    var ms = typeof value === 'string' ? Date.parse(value) : value;
    return number(ms) ? ms : null;
  }

  var due = time(doc.next_due);
  if (due === null && !begun) due = time(doc.exec_after);

  function status() {
    if (doc.state === '$$complete') return doc.exit === 0 ? 'succeeded' : 'failed';
    if (doc.state === '$$cancelled') return 'cancelled';
    if (doc.state === '$$paused') return 'paused';
    if (has('$$ready') || has('$$active')) return 'running';
    if (has('$$waiting')) return 'waiting';
    if (due !== null) return steps.length === 0 ? 'scheduled' : 'waiting';
    return steps.length === 0 ? 'queued' : 'running';
  }

  var when = number(doc.start) ? doc.start : number(doc.end) ? doc.end : 8640000000000000;
  var flow = text(doc.flow);
  var owner = text(doc.owner) || 'DEFAULT';
  var now = status();
  var failure = doc.failure && now === 'failed' ? text(doc.failure.name) : '';
  var facts = [flow, owner, now, failure || null, due];

  emit(['all', when], facts);
  emit(['status', now, when], facts);
  emit(['owner', owner, when], facts);
  if (flow) emit(['flow', flow, when], facts);
  if (failure) emit(['failure', failure, when], facts);
  if (text(doc.external_id)) emit(['external_id', doc.external_id, when], facts);
  if (doc.parent && text(doc.parent.job)) emit(['parent', doc.parent.job, when], facts);
  if (Array.isArray(doc.tags)) {
    doc.tags.slice(0, most).forEach(function (tag, i) {
      if (text(tag) && doc.tags.indexOf(tag) === i) emit(['tag', tag, when], facts);
    });
  }
  if (doc.keys && typeof doc.keys === 'object') {
    Object.keys(doc.keys)
      .slice(0, most)
      .forEach(function (name) {
        var value = doc.keys[name];
        var plain = typeof value === 'string' || number(value) || typeof value === 'boolean';
        if (plain) emit(['key', name, String(value), when], facts);
      });
  }
}
