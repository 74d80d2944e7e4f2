/*
 * Events. Key: [type of the event, what it is about], value: when an engine first handled it, and when its life ends
 * (epoch ms, or null).
 */
function map(doc) {
  if (doc.type !== 'event' || typeof doc.event !== 'string') return;
  if (doc.key !== undefined && typeof doc.key !== 'string') return;
  var triggered = doc.triggered || {};
  var time = function (value) {
    return typeof value === 'number' ? value : null;
  };
  emit([doc.event, doc.key || ''], [time(triggered.at), time(triggered.until)]);
}
