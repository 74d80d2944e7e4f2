/*
 * When something is due for a job that is not final. Key: epoch milliseconds, value: its state. And for a
 * schedule: value `schedule`, key 0 when somebody has edited it since an engine wrote its progress. And for
 * an event whose jobs are not all made: value `event`, key 0; not for one that no engine can read.
 */
function map(doc) {
  function isName(name) {
    if (typeof name !== 'string' || !/\S/.test(name) || name === '__proto__') return false;
    return !/^\$\$|::|[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(name);
  }
  function isStarting(one) {
    if (!one || typeof one.job !== 'string' || !isName(one.flow) || !isName(one.owner))
      return false;
    return typeof one.entry === 'number' && one.entry >= 0 && one.entry % 1 === 0;
  }
  if (doc.type === 'event') {
    if (!isName(doc.event) || (doc.key !== undefined && typeof doc.key !== 'string')) return;
    if (doc.triggered === undefined) return emit(0, 'event');
    var starting = doc.triggered && doc.triggered.starting;
    if (!Array.isArray(starting) || typeof doc.triggered.at !== 'number') return;
    if (starting.length > 0 && starting.every(isStarting)) emit(0, 'event');
    return;
  }
  if (doc.type === 'schedule') {
    var edition = doc.progress && doc.progress.edition;
    if (edition !== parseInt(doc._rev, 10)) emit(0, 'schedule');
    else if (typeof doc.next_due === 'number') emit(doc.next_due, 'schedule');
    return;
  }
  if (doc.type !== 'job' || doc.state === '$$complete' || doc.state === '$$cancelled') return;
  var begun = typeof doc.state === 'string';
  var time = typeof doc.next_due === 'number' || begun ? doc.next_due : doc.exec_after;
  if (typeof time === 'string') time = Date.parse(time);
  if (typeof time !== 'number' || !isFinite(time)) return;
  emit(time, begun ? doc.state : '');
}
