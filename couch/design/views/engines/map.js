/*
 * Engine processes (key: the host, value: the state), controls of engines (key: the engine) and of
 * queues (key: the queue), notify lists (key: the owner), and hooks (key: the name).
 */
function map(doc) {
  if (doc.type === 'engine-control') emit(String(doc.engine), 'control');
  if (doc.type === 'queue-control') emit(String(doc.queue), 'queue-control');
  if (doc.type === 'notify') emit(typeof doc.owner === 'string' ? doc.owner : '', 'notify');
  if (doc.type === 'hook') emit(String(doc.name), 'hook');
  if (doc.type !== 'engine') return;
  var state = typeof doc.state === 'string' ? doc.state : '';
  emit(typeof doc.host === 'string' ? doc.host : '', state);
}
