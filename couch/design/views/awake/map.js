/*
 * Jobs that are not final and want to be looked at: new ones, and those that do not sleep until a time
 * (these are in the view `due`). Key: state, "" for new ones.
 */
function map(doc) {
  if (doc.type !== 'job' || doc.state === '$$complete' || doc.state === '$$cancelled') return;
  var state = typeof doc.state === 'string' ? doc.state : '';
  var due = doc.next_due;
  if (state !== '' && typeof due === 'number' && due >= 0 && due <= 4320000000000000) return;
  emit(state, null);
}
