/* Steps that wait for a signal or an event. Key: [kind, name, key], value: the path of the step. */
function map(doc) {
  if (doc.type !== 'job' || doc.state === '$$complete' || doc.state === '$$cancelled') return;
  if (!Array.isArray(doc.steps)) return;
  doc.steps.forEach(function (step) {
    if (!step || step.state !== '$$waiting') return;
    if (typeof step.signal === 'string') emit(['signal', step.signal, ''], step.path);
    if (typeof step.event === 'string') {
      emit(['event', step.event, typeof step.key === 'string' ? step.key : ''], step.path);
    }
  });
}
