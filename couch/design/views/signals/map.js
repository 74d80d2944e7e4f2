/* Signals to jobs, without refused ones. Key: the id of the job, value: the name of the signal. */
function map(doc) {
  if (doc.type !== 'signal' || typeof doc.job !== 'string' || doc.refused !== undefined) return;
  emit(doc.job, typeof doc.name === 'string' ? doc.name : '');
}
