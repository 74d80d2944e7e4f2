/* Jobs only; ?flow=, ?owner= and ?state= narrow them down. */
function filter(doc, req) {
  var query = (req && req.query) || {};
  if (doc.type !== 'job') return false;
  if (query.flow && doc.flow !== query.flow) return false;
  if (query.owner && (doc.owner || 'DEFAULT') !== query.owner) return false;
  return !query.state || doc.state === query.state;
}
