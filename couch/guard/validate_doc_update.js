/*
 * Refuses documents that cannot be meant and changes of jobs that cannot happen; every sentence is
 * for the person who just pressed "save". Details that the engine can report in the job itself are
 * not judged here. Three things must always pass: deleting, a value that was already stored (the
 * engine must be able to finish a malformed job), and what replication brings (any number of
 * revisions in between may be missing).
 */
export default function validate(newDoc, oldDoc) {
  if (newDoc._deleted) return;
  var stored = oldDoc && !oldDoc._deleted ? oldDoc : null;
  var before = stored && stored.type === newDoc.type ? stored : null;
  var ours = ['task', 'flow', 'job', 'request', 'engine', 'lock'];

  function refuse(sentence) {
    throw { forbidden: sentence };
  }

  function has(doc, key) {
    return Object.prototype.hasOwnProperty.call(doc, key);
  }

  function isName(value) {
    return typeof value === 'string' && /\S/.test(value);
  }

  function isTree(value) {
    return typeof value === 'object' && value !== null;
  }

  function isFinal(state) {
    return state === '$$complete' || state === '$$cancelled';
  }

  function isStored(key) {
    if (!before || !has(before, key) || !has(newDoc, key)) return false;
    return before[key] === newDoc[key] || (isTree(before[key]) && isTree(newDoc[key]));
  }

  function needName(key, sentence) {
    var absent = before && !has(before, key) && !has(newDoc, key);
    if (!isName(newDoc[key]) && !isStored(key) && !absent) refuse(sentence);
  }

  function mayName(key, sentence) {
    if (has(newDoc, key)) needName(key, sentence);
  }

  function mayTree(key, sentence) {
    if (has(newDoc, key) && !isTree(newDoc[key]) && !isStored(key)) refuse(sentence);
  }

  function checkType() {
    if (!stored || ours.indexOf(stored.type) < 0 || stored.type === newDoc.type) return;
    refuse('This is a ' + stored.type + ' and its "type" cannot change; store a new document.');
  }

  function checkTask() {
    needName('name', 'A task needs a "name": a text that is not empty.');
    mayName('owner', 'The "owner" of a task must be a text; leave it out for DEFAULT.');
  }

  function checkFlow() {
    needName('name', 'A flow needs a "name": a text that is not empty.');
    needName('owner', 'A flow needs an "owner": a text, for example "DEFAULT".');
    if (!has(newDoc, 'tasks') && !(before && !has(before, 'tasks'))) {
      refuse('A flow needs "tasks": the list of its steps.');
    }
    mayTree('tasks', 'The "tasks" of a flow must be a list of steps or a structure.');
  }

  function checkJob() {
    mayName('flow', 'The "flow" of a job must be the name of a flow.');
    mayName('owner', 'The "owner" of a job must be a text; leave it out for DEFAULT.');
    mayTree('tasks', 'The "tasks" of a job must be a list of steps or a structure.');
    if (!has(newDoc, 'flow') && !has(newDoc, 'tasks')) {
      if (!before || has(before, 'flow') || has(before, 'tasks')) {
        refuse('A job needs a "flow" (the name of a flow), or "tasks" of its own.');
      }
    }
    if (isTree(newDoc.sensitive) && !isStored('sensitive')) {
      var apart = '"tws submit" keeps them apart, or give it a "subject".';
      refuse('A job must not hold "sensitive" values: ' + apart);
    }
    checkState();
    if (before) checkChange();
    else checkFirst();
  }

  function checkState() {
    var state = newDoc.state;
    if (!has(newDoc, 'state')) return;
    if (
      typeof state !== 'string' ||
      !/^(\$\$(ready|paused|complete|cancelled)|(?!\$\$).+-\d+)$/.test(state)
    ) {
      if (isStored('state')) return;
      refuse('The "state" of a job is set by the engine: leave it as it is, or out of a new job.');
    }
    if (isFinal(state) && typeof newDoc.exit !== 'number' && !isStored('state')) {
      refuse('A finished job needs its "exit" as a number (0 for success).');
    }
    if (has(newDoc, 'steps') && !Array.isArray(newDoc.steps) && !isStored('steps')) {
      refuse('The "steps" of a job must be the list that the engine keeps.');
    }
  }

  /* A job that replication brings was begun elsewhere: it carries its history. */
  function checkFirst() {
    var whole = Array.isArray(newDoc.steps) || (isFinal(newDoc.state) && isTree(newDoc.failure));
    if (has(newDoc, 'state') && !whole) {
      refuse('A new job has no "state": leave it out, the engine sets it when it takes the job.');
    }
  }

  function checkChange() {
    if (!has(before, 'state')) return;
    if (runOf(newDoc) > runOf(before)) return;
    if (neverBegan() && !has(newDoc, 'state')) return;
    if (!has(newDoc, 'state')) {
      refuse('This job has begun: its "state" cannot be removed. Store a new job to run it again.');
    }
    if (isFinal(before.state) && newDoc.state !== before.state) {
      refuse('This job is finished and stays ' + before.state + '; store a new job instead.');
    }
    checkSteps();
  }

  /* A job that ended before its first step, for example without its flow, may be new again. */
  function neverBegan() {
    return isFinal(before.state) && runOf(before) === 0 && !(before.steps && before.steps.length);
  }

  function runOf(job) {
    return typeof job.run === 'number' ? job.run : 0;
  }

  function checkSteps() {
    var old = before.steps;
    var now = newDoc.steps;
    if (!Array.isArray(old)) return;
    if (!Array.isArray(now) || now.length < old.length) {
      refuse('The "steps" of a job tell its history: none can be removed.');
    }
    if (isFinal(before.state) && now.length > old.length) {
      var last = now[now.length - 1];
      if (isTree(last) && typeof last.end !== 'number') {
        var finished = 'This job is finished: no step can be added to it; ';
        refuse(finished + 'ask for a retry, or store a new job.');
      }
    }
    for (var i = 0; i < old.length; i += 1) {
      if (old[i] && typeof old[i].end === 'number' && !isSame(old[i], now[i])) {
        refuse('Step ' + i + ' of this job has ended: its entry in "steps" cannot be changed.');
      }
    }
  }

  function isSame(old, now) {
    return (
      isTree(now) &&
      old.state === now.state &&
      old.end === now.end &&
      old.attempt === now.attempt &&
      old.path === now.path
    );
  }

  function checkSecret() {
    needName('name', 'A secret needs a "name": what {"$secret": "name"} refers to.');
    mayName('owner', 'The "owner" of a secret must be a text; leave it out for DEFAULT.');
    var id = 'secret:' + (has(newDoc, 'owner') ? newDoc.owner : 'DEFAULT') + ':' + newDoc.name;
    if (newDoc._id !== id) refuse('The _id of this secret must be "' + id + '".');
    var values = has(newDoc, 'values') ? newDoc.values : {};
    if (!isTree(values)) refuse('The "values" of a secret must be an object of encrypted values.');
    for (var key in values) checkEncrypted(values[key], 'values.' + key);
    if (has(newDoc, 'value')) checkEncrypted(newDoc.value, 'value');
  }

  function checkEncrypted(value, at) {
    if (typeof value === 'string' && /^tws:v2:/.test(value)) return;
    refuse('"' + at + '" of a secret must be encrypted: write it with "tws secret set".');
  }

  checkType();
  if (newDoc.type === 'secret') checkSecret();
  if (newDoc.type === 'task') checkTask();
  if (newDoc.type === 'flow') checkFlow();
  if (newDoc.type === 'job') checkJob();
  if (newDoc.type === 'request') {
    needName('job', 'A request needs "job": the id of the job it is for.');
    needName('action', 'A request needs "action": for example "cancel", "pause" or "resume".');
  }
  if (newDoc.type === 'engine' && String(newDoc._id).indexOf('engine:') !== 0) {
    refuse('Documents of type "engine" belong to engines: their _id begins with "engine:".');
  }
  if (newDoc.type === 'engine-control') {
    needName('engine', 'A control needs "engine": the id of an engine, or "*" for all.');
    if (typeof newDoc.enabled !== 'boolean') {
      refuse('A control needs "enabled": true or false.');
    }
  }
  if (newDoc.type === 'lock') {
    if (String(newDoc._id).indexOf('lock:') !== 0) {
      refuse('Documents of type "lock" belong to engines: their _id begins with "lock:".');
    }
    needName('job', 'A lock needs "job": the id of the job that has it.');
  }
}
