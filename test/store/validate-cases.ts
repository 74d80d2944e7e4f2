/** A document that replaces `before` (or is new), and the sentence it is refused with, if it is. */
export type ValidateCase = {
  readonly title: string;
  readonly before?: Fields;
  readonly after: Fields;
  readonly refused?: string;
};
type Fields = Readonly<Record<string, unknown>>;

const task = { type: 'task', name: 'fetch' };
const flow = { type: 'flow', name: 'daily', owner: 'DEFAULT', tasks: ['fetch'] };
const job = { type: 'job', flow: 'daily' };
const ended = { path: '0', attempt: 1, state: '$$complete', start: 1, end: 2, exit: 0, name: 'a' };
const active = { path: '1', attempt: 1, state: '$$active', start: 3, name: 'b' };
const live = { ...job, state: 'fetch-1', run: 1, steps: [ended, active] };
const done = { ...job, state: '$$complete', exit: 0, run: 1, steps: [ended] };
const failed = { ...done, exit: 2, failure: { name: 'X', message: 'x' } };

/** Every rule of `validate_doc_update` from both sides. */
export const validateCases: readonly ValidateCase[] = [
  // Tasks and flows.
  { title: 'a task', after: task },
  { title: 'a task of an owner with a plugin', after: { ...task, owner: 'me', plugin: 'http' } },
  { title: 'a task without a name', after: { type: 'task' }, refused: 'needs a "name"' },
  { title: 'a task with an empty name', after: { ...task, name: ' ' }, refused: 'needs a "name"' },
  { title: 'a task with a number for a name', after: { ...task, name: 7 }, refused: '"name"' },
  { title: 'a task with a wrong owner', after: { ...task, owner: null }, refused: '"owner"' },
  { title: 'a task with wrong details', after: { ...task, timeout: 'soon', params: 7 } },
  { title: 'a flow', after: flow },
  { title: 'a flow with a structure', after: { ...flow, tasks: { sequence: ['fetch'] } } },
  { title: 'a flow without an owner', after: { ...flow, owner: undefined }, refused: '"owner"' },
  { title: 'a flow without a name', after: { ...flow, name: '' }, refused: 'needs a "name"' },
  { title: 'a flow without tasks', after: { ...flow, tasks: undefined }, refused: '"tasks"' },
  { title: 'a flow with a text for tasks', after: { ...flow, tasks: 'a' }, refused: '"tasks"' },
  { title: 'a flow with nothing for tasks', after: { ...flow, tasks: null }, refused: '"tasks"' },
  { title: 'an edit of a flow', before: flow, after: { ...flow, tasks: ['a', 'b'], version: 2 } },

  // New jobs.
  { title: 'a job', after: job },
  { title: 'a job with what users write', after: { ...job, owner: 'me', params: {}, priority: 1 } },
  { title: 'a job with tasks of its own', after: { type: 'job', tasks: ['fetch'] } },
  { title: 'a job with neither', after: { type: 'job' }, refused: 'needs a "flow"' },
  {
    title: 'a job with a number for a flow',
    after: { ...job, flow: 7 },
    refused: 'name of a flow',
  },
  { title: 'a job with a text for tasks', after: { type: 'job', tasks: 'a' }, refused: '"tasks"' },
  { title: 'a job with a wrong owner', after: { ...job, owner: 7 }, refused: '"owner"' },
  { title: 'a job with wrong params', after: { ...job, params: 7, exec_after: 'soon' } },
  { title: 'a new job with a state', after: { ...job, state: '$$ready' }, refused: 'no "state"' },
  {
    title: 'a state nobody knows',
    after: { ...job, state: 'going' },
    refused: 'set by the engine',
  },
  {
    title: 'a state with dollars',
    after: { ...job, state: '$$go-1', steps: [] },
    refused: '"state"',
  },
  { title: 'a state that is null', after: { ...job, state: null }, refused: 'set by the engine' },

  // What replication brings.
  { title: 'a running job from elsewhere', after: live },
  { title: 'a finished job from elsewhere', after: done },
  { title: 'a job that ended unbegun, from elsewhere', after: { ...failed, steps: undefined } },
  { title: 'a finished job without exit', after: { ...done, exit: undefined }, refused: '"exit"' },
  { title: 'a finished job with a text exit', after: { ...done, exit: '0' }, refused: '"exit"' },
  { title: 'many revisions at once', before: job, after: done },
  { title: 'an end and a retry at once', before: live, after: { ...live, run: 3, steps: [] } },

  // The engine's way.
  { title: 'initialising', before: job, after: { ...job, state: '$$ready', steps: [], run: 1 } },
  { title: 'a step more', before: { ...live, steps: [ended] }, after: live },
  {
    title: 'the end of a step',
    before: live,
    after: { ...live, steps: [ended, { ...active, state: '$$error', end: 9, exit: 2 }] },
  },
  { title: 'pausing', before: live, after: { ...live, state: '$$paused' } },
  { title: 'going on', before: { ...live, state: '$$paused' }, after: live },
  { title: 'a progress back', before: live, after: { ...live, state: 'fetch-0' } },
  { title: 'a task name with dashes', before: live, after: { ...live, state: 'a-b 1-12' } },
  { title: 'the end', before: live, after: { ...live, state: '$$complete', exit: 0 } },
  { title: 'a cancel', before: live, after: { ...live, state: '$$cancelled', exit: 130 } },
  {
    title: 'the end of a malformed job',
    before: { type: 'job', flow: 7, owner: null },
    after: { type: 'job', flow: 7, owner: null, state: '$$complete', exit: 3, steps: [] },
  },
  {
    title: 'the end of a job with neither flow nor tasks',
    before: { type: 'job' },
    after: { type: 'job', state: '$$complete', exit: 3, steps: [] },
  },
  {
    title: 'the end of a job in a state nobody knows',
    before: { ...job, state: 7, steps: 'none' },
    after: { ...job, state: '$$complete', exit: 3, steps: [] },
  },

  // Edits of people.
  { title: 'a wish', before: live, after: { ...live, paused: true, cancel: { by: 'me' } } },
  { title: 'other params', before: live, after: { ...live, params: { a: 1 } } },
  { title: 'a note at a finished job', before: done, after: { ...done, note: 'seen' } },
  { title: 'a result taken out', before: done, after: { ...done, result: undefined } },
  {
    title: 'taking the state out of a running job',
    before: live,
    after: { ...live, state: undefined },
    refused: 'has begun',
  },
  {
    title: 'taking the state out of a finished job',
    before: done,
    after: job,
    refused: 'has begun',
  },
  {
    title: 'a job that ended unbegun, once more',
    before: { ...failed, steps: [], run: undefined },
    after: job,
  },
  {
    title: 'a finished job going on',
    before: done,
    after: { ...done, state: '$$ready', exit: undefined },
    refused: 'stays $$complete',
  },
  {
    title: 'a step added to a finished job',
    before: done,
    after: { ...done, steps: [...done.steps, { path: '9', state: '$$ready' }] },
    refused: 'no step can be added',
  },
  {
    title: 'a step that had ended elsewhere, brought into a finished job',
    before: done,
    after: { ...done, steps: [...done.steps, { path: '9', state: '$$complete', end: 9 }] },
  },
  {
    title: 'a finished job being cancelled',
    before: done,
    after: { ...done, state: '$$cancelled', exit: 130 },
    refused: 'stays $$complete',
  },
  { title: 'a retry', before: failed, after: { ...failed, state: '$$ready', run: 2 } },
  { title: 'a retry that claims', before: failed, after: { ...live, run: 2 } },
  { title: 'fewer steps', before: live, after: { ...live, steps: [ended] }, refused: 'history' },
  { title: 'no steps', before: live, after: { ...live, steps: undefined }, refused: 'history' },
  { title: 'steps of another kind', before: live, after: { ...live, steps: 'x' }, refused: 'list' },
  {
    title: 'an ended step that says otherwise',
    before: live,
    after: { ...live, steps: [{ ...ended, state: '$$error' }, active] },
    refused: 'Step 0',
  },
  {
    title: 'an ended step that begins anew',
    before: live,
    after: { ...live, steps: [{ ...ended, state: '$$active', end: undefined }, active] },
    refused: 'Step 0',
  },
  {
    title: 'an ended step that is gone',
    before: live,
    after: { ...live, steps: [null, active] },
    refused: 'Step 0',
  },
  {
    title: 'a note at an ended step',
    before: live,
    after: { ...live, steps: [{ ...ended, note: 1, result: undefined }, active] },
  },

  // Types, and what is not ours.
  { title: 'a task that becomes a flow', before: task, after: flow, refused: 'is a task' },
  { title: 'a job without its type', before: job, after: { flow: 'daily' }, refused: 'is a job' },
  { title: 'a note that becomes a job', before: { state: 'CA', steps: 9 }, after: job },
  { title: 'a document of somebody else', after: { type: 'invoice', state: 7, steps: 'many' } },
  { title: 'a change of such', before: { type: 'invoice' }, after: { type: 'receipt' } },
  { title: 'a document without a type', after: { anything: [1, null] } },
  { title: 'a request', after: { type: 'request', job: 'j', action: 'cancel' } },
  { title: 'a request for no job', after: { type: 'request', action: 'cancel' }, refused: '"job"' },
  { title: 'a request for nothing', after: { type: 'request', job: 'j' }, refused: '"action"' },
  { title: 'a signal', after: { type: 'signal', job: 'j', name: 'go', data: 1 } },
  { title: 'an engine', after: { _id: 'engine:1', type: 'engine' } },
  {
    title: 'a control of an engine',
    after: { type: 'engine-control', engine: '*', enabled: false },
  },
  {
    title: 'a control of nobody',
    after: { type: 'engine-control', enabled: false },
    refused: 'needs "engine"',
  },
  {
    title: 'a control that says nothing',
    after: { type: 'engine-control', engine: '*' },
    refused: 'needs "enabled"',
  },
  { title: 'a lock', after: { _id: 'lock:1', type: 'lock', job: 'j' } },
  { title: 'a lock elsewhere', after: { _id: 'l1', type: 'lock', job: 'j' }, refused: 'lock:' },
  { title: 'a lock of nobody', after: { _id: 'lock:2', type: 'lock' }, refused: 'needs "job"' },
  {
    title: 'a lock that becomes something else',
    before: { _id: 'lock:3', type: 'lock', job: 'j' },
    after: { _id: 'lock:3', type: 'note' },
    refused: '"type" cannot change',
  },
  { title: 'an engine elsewhere', after: { _id: 'e1', type: 'engine' }, refused: 'engine:' },
  { title: 'deleting a running job', before: live, after: { _deleted: true } },
  { title: 'deleting a finished job', before: done, after: { _deleted: true } },
  { title: 'deleting a malformed task', before: { type: 'task' }, after: { _deleted: true } },
];
