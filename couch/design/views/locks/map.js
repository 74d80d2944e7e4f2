/*
 * Locks of jobs. Key: [kind, target, pattern or flow]; of unique: until when the lock stays, as a text of 16
 * digits (nothing: until its job has ended; the last: as long as its job is there). Value: the job, since when it has the lock, and for whose jobs
 * the lock counts.
 */
function map(doc) {
  if (doc.type !== 'lock' || typeof doc.key !== 'string' || typeof doc.job !== 'string') return;
  var isKnown = doc.kind === 'pattern' || doc.kind === 'permit' || doc.kind === 'unique';
  // What a final job keeps is of no interest to those who look for locks without one.
  var outlives = ['succeeded', 'failed', 'cancelled'].some(function (status) {
    return Array.isArray(doc.states) && doc.states.indexOf(status) >= 0;
  });
  var until = outlives && doc.reserved !== true ? '9999999999999999' : '';
  if (typeof doc.until === 'number') until = ('0000000000000000' + doc.until).slice(-16);
  emit([isKnown ? doc.kind : 'target', doc.kind === 'unique' ? until : doc.key], {
    job: doc.job,
    at: typeof doc.at === 'number' ? doc.at : 0,
    owner: doc.owner,
    scope: doc.scope,
  });
}
