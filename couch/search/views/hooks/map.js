/* Hooks by name and owner (without a name: ""). Key: "name::owner", value: whether it is enabled. */
function map(doc) {
  if (doc.type !== 'hook') return;
  var name = typeof doc.name === 'string' ? doc.name : '';
  var owner = typeof doc.owner === 'string' && doc.owner ? doc.owner : 'DEFAULT';
  emit(name + '::' + owner, doc.enabled !== false);
}
