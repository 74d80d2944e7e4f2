/* Every job once. Key: "flow::owner" ("::owner" without a flow), value: its state and exit. */
function map(doc) {
  if (doc.type !== 'job') return;
  var flow = typeof doc.flow === 'string' ? doc.flow : '';
  var owner = typeof doc.owner === 'string' && doc.owner ? doc.owner : 'DEFAULT';
  emit(flow + '::' + owner, {
    state: typeof doc.state === 'string' ? doc.state : '',
    exit: typeof doc.exit === 'number' ? doc.exit : null,
  });
}
