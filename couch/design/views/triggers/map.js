/*
 * What starts jobs. Key: ['event', type of the event] of the flows with such an "on". And ['gathered', id of the
 * gathering] of events that wait in one.
 */
function map(doc) {
  if (doc.type === 'event') {
    var gathered = doc.triggered && doc.triggered.gathered;
    if (!Array.isArray(gathered)) return;
    return gathered.forEach(function (one) {
      if (one && typeof one.into === 'string') emit(['gathered', one.into], null);
    });
  }
  if (doc.type !== 'flow' || typeof doc.on !== 'object' || !doc.on) return;
  var seen = [];
  (Array.isArray(doc.on) ? doc.on : [doc.on]).forEach(function (one) {
    if (!one || typeof one.event !== 'string' || seen.indexOf(one.event) >= 0) return;
    seen.push(one.event);
    emit(['event', one.event], null);
  });
}
