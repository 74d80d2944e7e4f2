/* Locks of jobs. Key: [kind, target, pattern or flow], value: the job and since when it has the lock. */
function map(doc) {
  if (doc.type !== 'lock' || typeof doc.key !== 'string' || typeof doc.job !== 'string') return;
  var isKnown = doc.kind === 'pattern' || doc.kind === 'permit';
  emit([isKnown ? doc.kind : 'target', doc.key], {
    job: doc.job,
    at: typeof doc.at === 'number' ? doc.at : 0,
  });
}
