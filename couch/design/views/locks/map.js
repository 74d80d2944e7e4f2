/* Locks of jobs. Key: [kind, target or pattern], value: the job and since when it has the lock. */
function map(doc) {
  if (doc.type !== 'lock' || typeof doc.key !== 'string' || typeof doc.job !== 'string') return;
  var kind = doc.kind === 'pattern' ? 'pattern' : 'target';
  emit([kind, doc.key], { job: doc.job, at: typeof doc.at === 'number' ? doc.at : 0 });
}
