/* Jobs that are not final. Key: [state], [""] for new ones; value: "flow::owner". */
function map(doc) {
  if (doc.type !== 'job' || doc.state === '$$complete' || doc.state === '$$cancelled') return;
  var flow = typeof doc.flow === 'string' ? doc.flow : '';
  var owner = typeof doc.owner === 'string' && doc.owner ? doc.owner : 'DEFAULT';
  emit([typeof doc.state === 'string' ? doc.state : ''], flow + '::' + owner);
}
