/* For replications that bring tasks and flows to another database, and no jobs. */
function filter(doc) {
  return doc.type === 'task' || doc.type === 'flow' || doc._deleted === true;
}
