/*
 * Forms that wait for a person. Key: [`user`, name, due], [`group`, role, due] or [`anyone`, '', due], and ['all', '', due];
 * due in epoch milliseconds, 4320000000000000 for never. Value: owner, path and attempt of the step.
 * Key ['form', id of the job, path]: what people need of the form, where its step has that.
 */
function map(doc) {
  if (doc.type !== 'job' || doc.state === '$$complete' || doc.state === '$$cancelled') return;
  if (!Array.isArray(doc.steps)) return;
  var owner = typeof doc.owner === 'string' && doc.owner !== '' ? doc.owner : 'DEFAULT';
  function namesIn(list) {
    return Array.isArray(list) ? list : [];
  }
  var flow = doc.flow_definition || {};
  function shown(step, form) {
    var told = { job: doc._id, flow: flow.name, owner: doc.owner || flow.owner };
    ['title', 'text', 'assignee', 'group', 'due'].forEach(function (key) {
      if (form[key] !== undefined) told[key] = form[key];
    });
    told.path = step.path;
    told.step = step.name;
    told.attempt = step.attempt;
    told.signal = step.signal;
    told.since = step.accepted;
    told.form = form.schema;
    return told;
  }
  doc.steps.forEach(function (step) {
    if (!step || step.state !== '$$waiting' || !step.form) return;
    var form = step.form;
    var due = typeof form.due === 'number' ? form.due : 4320000000000000;
    var value = [owner, step.path, step.attempt];
    var users = namesIn(form.assignee);
    var groups = namesIn(form.group);
    emit(['all', '', due], value);
    users.forEach(function (name) {
      emit(['user', name, due], value);
    });
    groups.forEach(function (name) {
      emit(['group', name, due], value);
    });
    if (form.schema) emit(['form', doc._id, step.path], shown(step, form));
    if (users.length + groups.length === 0) emit(['anyone', '', due], value);
  });
}
