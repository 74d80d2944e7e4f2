/* Events. Key: [type of the event, what it is about]. */
function map(doc) {
  if (doc.type !== 'event' || typeof doc.event !== 'string') return;
  if (doc.key === undefined || typeof doc.key === 'string') emit([doc.event, doc.key || ''], null);
}
