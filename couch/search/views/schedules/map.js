/* Schedules by name and owner (without a name: ""). Key: "name::owner", value: when it is due (epoch ms), null: never. */
function map(doc) {
  if (doc.type !== 'schedule') return;
  var name = typeof doc.name === 'string' ? doc.name : '';
  var owner = typeof doc.owner === 'string' && doc.owner ? doc.owner : 'DEFAULT';
  emit(name + '::' + owner, typeof doc.next_due === 'number' ? doc.next_due : null);
}
