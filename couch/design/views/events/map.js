/* Events. Key: [type of the event, what it is about]. */
function map(doc) {
  if (doc.type !== 'event' || typeof doc.event !== 'string') return;
  emit([doc.event, typeof doc.key === 'string' ? doc.key : ''], null);
}
