/*
 * Locks of jobs. Key: [kind, target, pattern or flow], value: the job, since when it has the lock, and for
 * whose jobs the lock counts.
 */
function map(doc) {
  if (doc.type !== 'lock' || typeof doc.key !== 'string' || typeof doc.job !== 'string') return;
  var isKnown = doc.kind === 'pattern' || doc.kind === 'permit';
  emit([isKnown ? doc.kind : 'target', doc.key], {
    job: doc.job,
    at: typeof doc.at === 'number' ? doc.at : 0,
    owner: doc.owner,
    scope: doc.scope,
  });
}
