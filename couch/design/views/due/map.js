/* When something is due for a job that is not final. Key: epoch milliseconds, value: its state. */
function map(doc) {
  if (doc.type !== 'job' || doc.state === '$$complete' || doc.state === '$$cancelled') return;
  var begun = typeof doc.state === 'string';
  var time = typeof doc.next_due === 'number' || begun ? doc.next_due : doc.exec_after;
  if (typeof time === 'string') time = Date.parse(time);
  if (typeof time !== 'number' || !isFinite(time)) return;
  emit(time, begun ? doc.state : '');
}
