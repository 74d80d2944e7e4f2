/* Requests to jobs, without refused ones. Key: the id of the job, value: the action. */
function map(doc) {
  if (doc.type !== 'request' || typeof doc.job !== 'string' || doc.refused !== undefined) return;
  emit(doc.job, typeof doc.action === 'string' ? doc.action : '');
}
