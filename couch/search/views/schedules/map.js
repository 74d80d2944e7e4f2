/* Schedules by name and owner. Key: "name::owner", value: when it is due (epoch ms), null: never. */
function map(doc) {
  if (doc.type !== 'schedule' || typeof doc.name !== 'string') return;
  var owner = typeof doc.owner === 'string' && doc.owner ? doc.owner : 'DEFAULT';
  emit(doc.name + '::' + owner, typeof doc.next_due === 'number' ? doc.next_due : null);
}
