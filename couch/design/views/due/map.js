/*
 * When something is due for a job that is not final. Key: epoch milliseconds, value: its state. And for a
 * schedule: value `schedule`, key 0 when somebody has edited it since an engine wrote its progress. And for
 * an event whose jobs are not all made: value `event`, key 0.
 */
function map(doc) {
  if (doc.type === 'event') {
    if (typeof doc.event === 'string' && (!doc.triggered || doc.triggered.starting))
      emit(0, 'event');
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
