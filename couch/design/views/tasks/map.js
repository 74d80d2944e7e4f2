/* Tasks by name and owner. Key: "name::owner", value: the name of the plugin. */
function map(doc) {
  if (doc.type !== 'task' || typeof doc.name !== 'string' || !doc.name) return;
  var owner = typeof doc.owner === 'string' && doc.owner ? doc.owner : 'DEFAULT';
  var plugin = typeof doc.plugin === 'string' && doc.plugin ? doc.plugin : doc.name;
  emit(doc.name + '::' + owner, plugin);
}
