/* Final jobs that did not succeed. Key: [flow, end], value: exit and the name of the failure. */
function map(doc) {
  if (doc.type !== 'job' || (doc.state !== '$$complete' && doc.state !== '$$cancelled')) return;
  if (doc.exit === 0) return;
  var flow = typeof doc.flow === 'string' ? doc.flow : '';
  var name = doc.failure && typeof doc.failure.name === 'string' ? doc.failure.name : null;
  emit([flow, typeof doc.end === 'number' ? doc.end : null], {
    exit: typeof doc.exit === 'number' ? doc.exit : null,
    failure: name,
  });
}
