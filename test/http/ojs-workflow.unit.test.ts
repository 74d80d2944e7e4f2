import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { receive } from '../../src/decide/requests/command.js';
import { takeOffer } from '../../src/decide/waiting/lease.js';
import { offering } from '../../src/decide/waiting/offering.js';
import { unknownWorld, type World } from '../../src/decide/world.js';
import { keptStep } from '../../src/http/ojs/envelope.js';
import { eventsOf } from '../../src/http/ojs/events.js';
import { workflowOf } from '../../src/http/ojs/workflow/answer.js';
import { stepId, workflowId, workflowOfStep } from '../../src/http/ojs/workflow/ids.js';
import { jobOfWorkflow, typesIn } from '../../src/http/ojs/workflow/order.js';
import { workflowSchema, type WorkflowNode } from '../../src/http/ojs/workflow/schemas.js';
import { envelopeOfStep } from '../../src/http/ojs/workflow/step.js';
import type { StoredDocument } from '../../src/model/document.js';
import type { Job, LiveJob } from '../../src/model/job.js';
import { workOptionsOf } from '../../src/model/work.js';
import { parseDocument } from '../../src/reading/parse.js';
import { upstreamOf } from '../../src/reading/node-outline.js';
import { foretell, numbered, workflows } from './ojs-oracle.js';

const t0 = Date.UTC(2026, 0, 1);
const id = workflowId('019539a4-0001-7000-8000-000000000001');
const any: ReadonlySet<string> = Object.assign(new Set<string>(), { has: () => true });
const world: World = {
  ...unknownWorld,
  me: {
    ...unknownWorld.me,
    plugins: new Set(['worker']),
    labels: any,
    queues: any,
    freeSlots: 1000,
  },
  nonce: 'n',
  lease: () => 'alive',
  root: () => 'live',
  task: (name) => ({ kind: 'found', value: { type: 'task', name, plugin: 'worker' } }),
};

/** The document of a workflow, as it is stored: begun, with its first steps offered. */
function stored(order: WorkflowNode): LiveJob {
  const target = { kind: 'task', name: 'ojs', isWork: true } as const;
  const facts = { hasRetry: false, hasLease: false, byType: true };
  const doc = jobOfWorkflow(workflowSchema.parse(order), {
    ...{ id, owner: 'DEFAULT', now: t0 },
    targetOf: () => ({ ...target, ...facts }),
  });
  return settled(parsed(doc));
}

function parsed(doc: object): Job {
  const read = parseDocument({ ...doc, _rev: '' } as unknown as StoredDocument);
  if (read.kind !== 'job' || !read.ok) throw new Error(JSON.stringify(read));
  return read.value;
}

let number = 0;
function settled(job: Job): LiveJob {
  const place = () => ({ at: t0, id: String((number += 1)).padStart(9, '0') });
  const came = offering(job, t0, { world, place });
  return (came.kind === 'write' ? came.job : job) as LiveJob;
}

const offersOf = (job: LiveJob) =>
  job.steps.filter(
    ({ state, signal }) => state === '$$waiting' && String(signal).startsWith('work/'),
  );

/** A worker takes a step that is offered, and answers. */
function answered(job: LiveJob, place: number, answer: object): LiveJob {
  const step = offersOf(job)[place];
  const lease = `l${(number += 1)}`;
  const held = takeOffer(job, String(step?.['signal']), { worker: 'w', id: lease }, t0);
  const about = { _id: `s${number}`, _rev: '', type: 'signal', job: id, name: `lease/${lease}` };
  const taken = receive(held as LiveJob, { ...about, ...answer } as never, t0);
  if (taken.kind !== 'applied') throw new Error(taken.kind);
  return settled(taken.job);
}

const docOf = (job: LiveJob) => job as unknown as StoredDocument;
const leaf = (fails = false): WorkflowNode => ({
  ...{ type: 'work.do', args: [{ fails }] },
  options: { retry: { max_attempts: 1 } },
});

const leaves = fc.boolean().map((fails) => leaf(fails));

describe('a workflow', () => {
  it('four deep does what its definition says, whatever fails and in whatever order', () => {
    const numRuns = Number(process.env['TWS_OJS_WORKFLOWS'] ?? 60);
    fc.assert(
      fc.property(workflows(4, leaves), fc.infiniteStream(fc.nat()), (order, turns) => {
        let job = stored(order);
        const done: string[] = [];
        for (const turn of turns) {
          const offers = offersOf(job);
          if (offers.length === 0) break;
          const place = turn % offers.length;
          const { id: own } = workOptionsOf(offers[place]?.['params']);
          const [{ fails }] = keptStep(docOf(job), own)?.['args'] as [{ fails: boolean }];
          done.push(String(own));
          const failure = { name: 'Broken', message: 'No.' };
          job = answered(job, place, fails ? { failure } : { data: own });
        }
        const wanted = foretell(numbered(order));
        // Every step once, callbacks too.
        const ids = wanted.done.map((one) => stepId(id, one));
        expect(done.toSorted()).toEqual(ids.toSorted());
        expect(workflowOf(docOf(job), t0).state).toBe(wanted.well ? 'completed' : 'failed');
      }),
      { numRuns },
    );
  });

  it('hands results on: to the next step those before it, to a callback those of all', () => {
    const order = {
      type: 'chain' as const,
      steps: [
        leaf(),
        { type: 'group', jobs: [leaf(), leaf()] },
        { type: 'batch', jobs: [leaf(), leaf(true)], callbacks: { on_failure: leaf() } },
        leaf(),
      ],
    };
    let job = stored(order);
    const seen = (): unknown => upstreamOf(job, String(offersOf(job)[0]?.path));
    job = answered(job, 0, { data: 'a' });
    expect(seen()).toEqual(['a']);
    job = answered(answered(job, 0, { data: 'b' }), 0, { data: 'c' });
    expect(seen()).toEqual(['a', { 0: 'b', 1: 'c' }]);
    const failure = { name: 'Broken', message: 'No.' };
    job = answered(answered(job, 0, { data: null }), 0, { failure });
    expect(seen()).toEqual([null, { failure: { ...failure, step: 'work.do' } }]);
    job = answered(job, 0, { data: 'called' });
    expect(seen()).toEqual(['a', { 0: 'b', 1: 'c' }, { 0: null }]);
    expect(workflowOf(docOf(job), t0)).toMatchObject({
      ...{ state: 'running', type: 'chain', steps_total: 4, steps_completed: 3 },
      steps: [
        { index: 0, type: 'work.do', state: 'completed', job_id: stepId(id, 1), result: 'a' },
        { type: 'group', state: 'completed', jobs: [{ state: 'completed' }, {}] },
        {
          type: 'batch',
          state: 'completed',
          jobs: [{ state: 'completed' }, { state: 'failed' }, {}],
        },
        { state: 'pending', job_id: stepId(id, 7) },
      ],
      metadata: { job_count: 7, completed_count: 5, failed_count: 1 },
      failed_job_ids: [stepId(id, 5)],
    });
    expect(envelopeOfStep(docOf(job), stepId(id, 5), t0)).toMatchObject({
      ...{ id: stepId(id, 5), workflow_id: id, state: 'discarded', attempt: 1 },
      error: { type: 'Broken' },
    });
    expect(envelopeOfStep(docOf(job), stepId(id, 7), t0)).toMatchObject({ state: 'available' });
    expect(envelopeOfStep(docOf(job), stepId(id, 9), t0)).toBeUndefined();
    const types = eventsOf(docOf(job), t0).map(
      ({ type, subject }) => `${type} ${subject.slice(-4)}`,
    );
    expect(types).toContain('job.completed 0001');
    expect(types).toContain('job.discarded 0005');
  });

  it('of steps that depend on others is a graph', () => {
    const step = (name: string, ...after: string[]) => ({
      ...{ ...leaf(), id: name, depends_on: after },
    });
    const order = { steps: [step('a'), step('b'), step('c', 'a', 'b')] };
    let job = stored(order);
    expect(offersOf(job)).toHaveLength(2);
    job = answered(answered(job, 0, { data: 1 }), 0, { data: 2 });
    expect(upstreamOf(job, String(offersOf(job)[0]?.path))).toEqual([1, 2]);
    expect(workflowOf(docOf(job), t0).steps?.map(({ id: name }) => name)).toEqual(['a', 'b', 'c']);
  });

  it('gives its options to steps that do not say them, in "options" or beside their type', () => {
    const retry = { max_attempts: 5 };
    const own = { max_attempts: 1 };
    const { type, args } = leaf();
    const steps = [{ type, args }, leaf(), { type, args, retry: own }];
    const doc = stored({ type: 'chain', steps, options: { retry, tags: ['t'] } });
    const kept = [1, 2, 3].map((place) => keptStep(docOf(doc), stepId(id, place)));
    expect(kept.map((step) => step?.['retry'])).toEqual([retry, own, own]);
    expect(kept.map((step) => step?.['tags'])).toEqual([['t'], ['t'], ['t']]);
  });

  it.each<[string, WorkflowNode, string]>([
    ['without steps', { type: 'chain' }, 'steps must be a list'],
    ['with an empty list', { type: 'group', jobs: [] }, 'jobs must be a list'],
    ['of a batch without a callback', { type: 'batch', jobs: [leaf()] }, 'callbacks must have'],
    ['of a step without a type', { type: 'chain', steps: [{ args: [] }] }, 'steps[0].type'],
    ['with steps of a group', { type: 'group', steps: [leaf()] }, 'are those of a chain'],
    [
      'with a dependency that there is not',
      { steps: [{ ...leaf(), id: 'a', depends_on: ['z'] }] },
      'names "z"',
    ],
  ])('%s is refused', (_title, order, words) => {
    const read = workflowSchema.safeParse(order);
    const act = () => (read.success ? typesIn(read.data) && stored(order) : undefined);
    if (read.success) expect(act).toThrow(words);
    else expect(JSON.stringify(read.error.issues)).toContain(words.split(' ').slice(1).join(' '));
  });

  it('is found by the ids of its steps', () => {
    expect(id.endsWith('0000')).toBe(true);
    expect(stepId(id, 258)).toBe('019539a4-0001-7000-8000-000000000102');
    expect(workflowOfStep(stepId(id, 258))).toBe(id);
    expect(workflowOfStep(id)).toBeUndefined();
    expect(workflowOfStep('job-1')).toBeUndefined();
  });
});
