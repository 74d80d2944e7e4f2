/*
 * Jobs that want to be looked at: new ones, live ones that do not sleep until a time (these are in the
 * view `due`), and final ones with the wish to go on. Key: state, "" for new ones.
 */
function map(doc) {
  if (doc.type !== 'job') return;
  if (doc.state === '$$complete' || doc.state === '$$cancelled') {
    if (doc.retry !== undefined && doc.retry !== null && doc.retry !== false) emit(doc.state, null);
    return;
  }
  var state = typeof doc.state === 'string' ? doc.state : '';
  var due = doc.next_due;
  if (state !== '' && typeof due === 'number' && due >= 0 && due <= 4320000000000000) return;
  emit(state, null);
}
