/* What starts jobs. Key: ['event', type of the event] of the flows with such an "on". */
function map(doc) {
  if (doc.type !== 'flow' || typeof doc.on !== 'object' || !doc.on) return;
  var seen = [];
  (Array.isArray(doc.on) ? doc.on : [doc.on]).forEach(function (one) {
    if (!one || typeof one.event !== 'string' || seen.indexOf(one.event) >= 0) return;
    seen.push(one.event);
    emit(['event', one.event], null);
  });
}
