/*
 * Steps that wait for a signal or an event. Key: [kind, name, key], value: the owner of the job. What a
 * job that halts offers to workers stands in no line.
 */
function map(doc) {
  if (doc.type !== 'job' || doc.state === '$$complete' || doc.state === '$$cancelled') return;
  if (!Array.isArray(doc.steps)) return;
  var owner = typeof doc.owner === 'string' && doc.owner !== '' ? doc.owner : 'DEFAULT';
  var halts = doc.state === '$$paused' || doc.paused === true;
  doc.steps.forEach(function (step) {
    if (!step || step.state !== '$$waiting') return;
    if (typeof step.signal === 'string' && !(halts && /^work\//.test(step.signal))) {
      emit(['signal', step.signal, ''], owner);
    }
    if (typeof step.event === 'string') {
      emit(['event', step.event, typeof step.key === 'string' ? step.key : ''], owner);
    }
  });
}
