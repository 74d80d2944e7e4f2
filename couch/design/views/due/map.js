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
    return isCount(one.entry, 0);
  }
  function isCount(value, least) {
    return typeof value === 'number' && value >= least && value % 1 === 0;
  }
  function isTime(value) {
    return typeof value === 'number' && value >= 0 && value <= 4320000000000000;
  }
  function isTextOrNothing(value) {
    return value === undefined || typeof value === 'string';
  }
  function isJoining(one) {
    if (!one || typeof one.into !== 'string' || !isName(one.flow) || !isName(one.owner))
      return false;
    if (!isCount(one.entry, 0) || !isCount(one.size, 1) || !isTime(one.period)) return false;
    if (one.by !== 'debounce' && one.by !== 'batch') return false;
    if (one.max !== undefined && !isTime(one.max)) return false;
    return isTextOrNothing(one.key) && isTextOrNothing(one.params);
  }
  if (doc.type === 'event') {
    if (!isName(doc.event) || (doc.key !== undefined && typeof doc.key !== 'string')) return;
    if (doc.triggered === undefined) return emit(0, 'event');
    if (!doc.triggered || typeof doc.triggered.at !== 'number') return;
    var starting = doc.triggered.starting || [];
    var gathering = doc.triggered.gathering || [];
    if (!Array.isArray(starting) || !Array.isArray(gathering)) return;
    if (!starting.every(isStarting) || !gathering.every(isJoining)) return;
    if (starting.length + gathering.length > 0) emit(0, 'event');
    return;
  }
  if (doc.type === 'gathering') {
    if (doc.starting) emit(0, 'gathering');
    else if (typeof doc.next_due === 'number') emit(doc.next_due, 'gathering');
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
