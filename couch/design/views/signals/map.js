/* Signals to jobs. Key: the id of the job, value: the name of the signal. */
function map(doc) {
  if (doc.type !== 'signal' || typeof doc.job !== 'string') return;
  emit(doc.job, typeof doc.name === 'string' ? doc.name : '');
}
