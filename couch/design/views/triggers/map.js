/*
 * What starts jobs. Key: ['event', type of the event] of the flows with such an "on". And ['gathered', id of the
 * gathering] of events that wait in one. And ['expires', when its life ends (epoch ms)] of events for which no job is
 * about to start; also of cached results.
 */
function map(doc) {
  if (doc.type === 'cached-result') {
    if (typeof doc.until === 'number') emit(['expires', doc.until], null);
    return;
  }
  if (doc.type === 'event') {
    var triggered = doc.triggered || {};
    var gathered = triggered.gathered;
    var isFree = !triggered.starting && !triggered.gathering && !gathered;
    if (isFree && typeof triggered.until === 'number') emit(['expires', triggered.until], null);
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
