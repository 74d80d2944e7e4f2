/*
 * Jobs that want to be looked at: new ones, live ones that do not sleep until a time (these are in the
 * view `due`), and final ones into which somebody has written a wish, or that no engine has ended. Key:
 * state, "" for new ones.
 */
function map(doc) {
  function asked(wish) {
    return wish !== undefined && wish !== null && wish !== false;
  }
  if (doc.type !== 'job') return;
  if (doc.state === '$$complete' || doc.state === '$$cancelled') {
    var halts = asked(doc.paused) || (doc.state === '$$complete' && asked(doc.cancel));
    var isTree = typeof doc.failure === 'object' && doc.failure !== null;
    var isWhole = typeof doc.exit === 'number' && (Array.isArray(doc.steps) || isTree);
    if (halts || asked(doc.retry) || !isWhole) emit(doc.state, null);
    return;
  }
  var state = typeof doc.state === 'string' ? doc.state : '';
  var due = doc.next_due;
  if (state !== '' && typeof due === 'number' && due >= 0 && due <= 4320000000000000) return;
  emit(state, null);
}
