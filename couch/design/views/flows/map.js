/* Flows by name and owner. Key: "name::owner", value: false when the flow is disabled. */
function map(doc) {
  if (doc.type !== 'flow' || typeof doc.name !== 'string' || !doc.name) return;
  if (typeof doc.owner !== 'string' || !doc.owner) return;
  emit(doc.name + '::' + doc.owner, doc.enabled !== false);
}
