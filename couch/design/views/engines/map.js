/* Engine processes. Key: the host, value: the state. */
function map(doc) {
  if (doc.type !== 'engine') return;
  var state = typeof doc.state === 'string' ? doc.state : '';
  emit(typeof doc.host === 'string' ? doc.host : '', state);
}
