/* Engine processes. Key: the host, value: the state. */
function map(doc) {
  if (doc.type !== 'engine') return;
  emit(typeof doc.host === 'string' ? doc.host : '', typeof doc.state === 'string' ? doc.state : '');
}
