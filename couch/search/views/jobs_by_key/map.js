/*
 * Jobs by their search keys, for programs that know CouchDB only. Key: [name, value, start], where `value` is as it is in
 * `keys` and `start` is null before the job has begun; value: [flow, owner, state, exit].
 */
function map(doc) {
  if (doc.type !== 'job' || !doc.keys || typeof doc.keys !== 'object') return;
  if (Array.isArray(doc.keys)) return;
  var most = 50;
  var kinds = { string: true, number: true, boolean: true };
  var owner = typeof doc.owner === 'string' && doc.owner ? doc.owner : 'DEFAULT';
  var flow = typeof doc.flow === 'string' ? doc.flow : '';
  var state = typeof doc.state === 'string' ? doc.state : '';
  var found = [flow, owner, state, typeof doc.exit === 'number' ? doc.exit : null];
  var start = typeof doc.start === 'number' ? doc.start : null;
  Object.keys(doc.keys)
    .slice(0, most)
    .forEach(function (name) {
      var value = doc.keys[name];
      if (kinds[typeof value]) emit([name, value, start], found);
    });
}
