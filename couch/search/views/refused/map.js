/*
 * Requests, signals and events that could not be applied and that no job tells of. Key: the type of
 * the document, value: the reason.
 */
function map(doc) {
  if (doc.type !== 'request' && doc.type !== 'signal' && doc.type !== 'event') return;
  var failure = doc.failure;
  if (typeof doc.refused === 'string') emit(doc.type, doc.refused);
  else if (failure && (failure.name === 'InvalidRequest' || failure.name === 'InvalidEvent'))
    emit(doc.type, String(failure.message));
}
