/* Child jobs. Key: the id of the parent job, value: state and exit of the child. */
function map(doc) {
  if (doc.type !== 'job' || !doc.parent || typeof doc.parent.job !== 'string') return;
  emit(doc.parent.job, {
    state: typeof doc.state === 'string' ? doc.state : '',
    exit: typeof doc.exit === 'number' ? doc.exit : null,
  });
}
