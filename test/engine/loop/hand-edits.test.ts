import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createClient } from '../../../src/client/client.js';
import type { StoredDocument } from '../../../src/model/document.js';
import { validateCases } from '../../store/validate-cases.js';
import { openWorkspace, type Workspace } from '../../support/workspace.js';

type Fields = Readonly<Record<string, unknown>>;
type Step = Fields & { readonly name: string; readonly state: string };
type Edit = (job: Fields & { readonly steps: readonly Step[] }) => Fields;

/** An edit by hand that the guard refuses, and what the job tells at its end without a guard. */
type Row = readonly [title: string, edit: Edit, told: Fields];

const without =
  (...keys: readonly string[]): Edit =>
  (job) =>
    Object.fromEntries(Object.entries(job).filter(([key]) => !keys.includes(key)));
const withSteps =
  (change: (steps: readonly Step[]) => unknown): Edit =>
  (job) => ({ ...job, steps: change(job.steps) });
const first = (change: unknown) =>
  withSteps(([one, ...more]): unknown => [
    change === null ? null : { ...one, ...(change as Fields) },
    ...more,
  ]);

const problem = (path: string, message: RegExp) => ({
  problems: expect.arrayContaining([
    { path, message: expect.stringMatching(message) as string },
  ]) as unknown,
});
const refused = (path: string) => ({
  exit: 3,
  failure: expect.objectContaining({ name: 'InvalidJob' }) as unknown,
  ...problem(path, /./),
});
const gone = problem(
  'steps',
  /ended steps were removed or changed by hand\. They were noop \(0, attempt 1, \$\$complete\)/,
);

/** Job under way: step `noop` has ended, `hold` runs here. */
const live: readonly Row[] = [
  [
    'the state taken out',
    without('state'),
    {
      exit: 0,
      ...problem('state', /taken out .* It had noop \(0, attempt 1, \$\$complete\), hold/),
    },
  ],
  ['a state that nobody knows', (job) => ({ ...job, state: 'going' }), refused('state')],
  ['a state that is null', (job) => ({ ...job, state: null }), refused('state')],
  [
    'a final state without exit',
    (job) => ({ ...job, state: '$$complete' }),
    {
      exit: 3,
      ...problem('state', /No engine has ended this job/),
    },
  ],
  ['an ended step removed', withSteps(([, running]) => [running]), { exit: 0, ...gone }],
  ['all steps removed', withSteps(() => []), { exit: 0, ...gone }],
  ['the list of steps removed', without('steps'), { ...refused('steps'), ...gone }],
  ['steps that are no list', withSteps(() => 'x'), { ...refused('steps'), ...gone }],
  ['an ended step that begins anew', first({ state: '$$active', end: undefined }), gone],
  ['an ended step that ended at another time', first({ end: 5 }), { exit: 0, ...gone }],
  ['an ended step that says otherwise', first({ attempt: 2 }), { exit: 0, ...gone }],
  ['an ended step that is null', first(null), { ...refused('steps[0]'), ...gone }],
  ['a flow that is no name', (job) => ({ ...job, flow: 7 }), refused('flow')],
  ['an owner that is no name', (job) => ({ ...job, owner: 7 }), refused('owner')],
  ['tasks that are no list', (job) => ({ ...job, tasks: 'x' }), refused('tasks')],
  ['neither flow nor tasks', without('flow', 'tasks'), refused('tasks')],
];

/** A job that has ended with exit 0. */
const final: readonly Row[] = [
  ['the state taken out', without('state'), { exit: 0, ...problem('state', /taken out/) }],
  [
    'made live again',
    (job) => ({ ...job, state: '$$ready' }),
    { state: '$$complete', exit: 0, ...problem('state', /is finished and stays \$\$complete/) },
  ],
  ['steps that are no list', withSteps(() => 'x'), { ...problem('state', /it has no "steps"/) }],
  [
    'a step added',
    withSteps((steps) => [...steps, { index: 9, name: 'more', path: '9', state: '$$ready' }]),
    { exit: 0, ...problem('steps', /were taken out again: more \(9/) },
  ],
];

/** Told, too, though the guard lets it pass. */
const passed: Row = [
  'the exit removed',
  without('exit'),
  { exit: 3, ...problem('state', /it has no "exit"/) },
];

/** New jobs. */
const fresh: readonly (readonly [title: string, job: Fields, told: Fields])[] = [
  ['a state', { state: '$$ready' }, refused('state')],
  [
    'a final state',
    { state: '$$complete', exit: 0 },
    { exit: 3, ...problem('state', /No engine/) },
  ],
  [
    'a final state without exit',
    { state: '$$cancelled', steps: [] },
    { exit: 3, ...problem('state', /No engine/) },
  ],
];

/** Told, too: it could come from another database. */
const passedFresh = [
  'a state and steps',
  { state: '$$ready', steps: [] } as Fields,
  refused('start'),
] as const;

/** Runs until its job is let go. */
const hold = `export default ({ job }) => new Promise((done) => {
  const { released, held } = (globalThis.byHand ??= { released: new Set(), held: new Map() });
  if (released.has(job._id)) done({});
  else held.set(job._id, done);
});`;
const noop = 'export default () => ({ ok: true });';
type ByHand = {
  readonly released: Set<string>;
  readonly held: Map<string, (result: unknown) => void>;
};
const byHand: ByHand = { released: new Set(), held: new Map() };
Object.assign(globalThis, { byHand });
const newId = (): string => `job-${randomUUID()}`;

async function open(guard: boolean): Promise<Workspace> {
  const space = await openWorkspace({ 'hold.mjs': hold, 'noop.mjs': noop }, undefined, guard);
  await space.put(
    ...['noop', 'hold'].map((name) => ({ _id: name, type: 'task', name, timeout: 0 })),
    { _id: 'f', type: 'flow', name: 'f', owner: 'me', tasks: ['noop', 'hold'], timeout: 0 },
    { _id: 'g', type: 'flow', name: 'g', owner: 'me', tasks: ['noop', 'noop'] },
  );
  await space.engine();
  return space;
}

const runs = (doc: Fields): boolean =>
  ((doc['steps'] ?? []) as readonly Step[]).some(
    ({ name, state }) => name === 'hold' && state === '$$active',
  );
const isFinal = ({ state, exit }: Fields): boolean =>
  /^\$\$(complete|cancelled)$/.test(String(state)) && typeof exit === 'number';

const isTold = (doc: Fields): boolean => isFinal(doc) && 'problems' in doc;

const edited = (edit: Edit, doc: StoredDocument): StoredDocument =>
  JSON.parse(JSON.stringify(edit(doc as unknown as Parameters<Edit>[0]))) as StoredDocument;

/** Lets the held step of a job end, also when it begins once more. */
function letGo(id: string): void {
  byHand.released.add(id);
  byHand.held.get(id)?.({});
}

const isLater = ({ _rev }: StoredDocument, than: string): boolean =>
  Number.parseInt(_rev, 10) > Number.parseInt(than, 10);

/** Stores a document and returns its revision. */
async function stored(space: Workspace, doc: StoredDocument): Promise<string> {
  const written = await space.store.write(doc);
  if (written.kind !== 'written') throw new Error(written.kind);
  return written.rev;
}

describe('an edit that the guard refuses is told in the job where there is no guard', () => {
  it.each(live)('of a job under way: %s', async (_title, edit, told) => {
    const space = await open(false);
    const id = newId();
    await space.put({ _id: id, type: 'job', flow: 'f', owner: 'me' });
    const rev = await stored(space, edited(edit, await space.until(id, runs)));
    letGo(id);
    const end = await space.until(id, (doc) => isLater(doc, rev) && isTold(doc));
    expect(end).toMatchObject(told);
    expect(space.log.filter(({ level }) => level === 'error')).toEqual([]);
  });

  // Shows D-10.
  it.each([...final, passed])('of a job that has ended: %s', async (_title, edit, told) => {
    const space = await open(false);
    const id = newId();
    await space.put({ _id: id, type: 'job', flow: 'g', owner: 'me' });
    const rev = await stored(space, edited(edit, await space.ended(id)));
    const end = await space.until(id, (doc) => isLater(doc, rev) && isTold(doc));
    expect(end).toMatchObject(told);
  });

  it.each([...fresh, passedFresh])('of a new job: %s', async (_title, fields, told) => {
    const space = await open(false);
    await space.put({ _id: 'j', type: 'job', flow: 'g', owner: 'me', ...fields });
    expect(await space.until('j', isTold)).toMatchObject(told);
  });

  it('of a new job with a final state that was stored while no engine ran', async () => {
    const space = await openWorkspace({ 'noop.mjs': noop }, undefined, false);
    await space.put({ _id: 'j', type: 'job', flow: 'g', state: '$$complete', exit: 0 });
    await space.engine();
    expect(await space.until('j', isTold)).toMatchObject({ exit: 3 });
  });

  it.each([
    ['changed', (job: Fields) => ({ ...job, type: 'note' }), /"type" was changed to the string/],
    ['removed', without('type') as (job: Fields) => Fields, /"type" was removed/],
  ])('of its type: %s; with its type put back it goes on', async (_title, edit, message) => {
    const space = await open(false);
    const id = newId();
    await space.put({ _id: id, type: 'job', flow: 'f', owner: 'me' });
    await stored(space, edited(edit, await space.until(id, runs)));
    const told = await space.until(id, (now) => 'problems' in now);
    expect(told).toMatchObject(problem('type', message));
    expect(runs(told)).toBe(true);
    await stored(space, { ...told, type: 'job' });
    letGo(id);
    expect(await space.ended(id)).toMatchObject({ exit: 0 });
  });

  it('is refused with the guard, each of them', async () => {
    const space = await open(true);
    const [l, e] = [newId(), newId()];
    await space.put({ _id: l, type: 'job', flow: 'f', owner: 'me' });
    await space.put({ _id: e, type: 'job', flow: 'g', owner: 'me' });
    const [running, ended] = [await space.until(l, runs), await space.ended(e)];
    const type: Row = ['its type', (job) => ({ ...job, type: 'note' }), {}];
    const edits = [
      ...[...live, type].map(([title, edit]) => [title, edited(edit, running)] as const),
      ...[...final, type].map(([title, edit]) => [title, edited(edit, ended)] as const),
      ...fresh.map(
        ([title, job]) => [title, { _id: 'n', type: 'job', flow: 'g', ...job }] as const,
      ),
    ];
    for (const [title, doc] of edits) {
      expect(await space.store.write(doc), title).toMatchObject({ kind: 'refused' });
    }
    letGo(l);
    await space.ended(l);
  });
});

describe('documents of other types that the guard refuses', () => {
  it('stop no engine where there is no guard, and a request tells what is wrong with it', async () => {
    const space = await open(false);
    const rows = validateCases.filter(
      ({ after, refused: sentence }) => sentence !== undefined && after['type'] !== 'job',
    );
    await space.put(...rows.map(({ after }, i) => ({ _id: `odd-${i}`, ...after })));
    for (const [i, { after }] of rows.entries()) {
      if (after['type'] !== 'request') continue;
      const told = await space.until(`odd-${i}`, (doc) => 'failure' in doc);
      expect(told).toMatchObject({ failure: { name: 'InvalidRequest' } });
    }
    await space.put({ _id: 'j', type: 'job', flow: 'g', owner: 'me', target: 't', locks: 't' });
    expect(await space.ended('j')).toMatchObject({ exit: 0 });
    expect(space.log.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

describe('what the guard refuses of new documents the client refuses without it', () => {
  it('with the same sentence, and nothing is stored', async () => {
    const space = await openWorkspace({}, undefined, false);
    const client = createClient({ store: space.store });
    const rows = validateCases.filter(
      ({ before, refused: sentence }) => before === undefined && sentence !== undefined,
    );
    expect(rows.length).toBeGreaterThan(20);
    for (const [i, { title, after, refused: reason = '' }] of rows.entries()) {
      const doc = { _id: `new-${i}`, ...after };
      const said = client.write(JSON.parse(JSON.stringify(doc)) as typeof doc);
      await expect(said, title).rejects.toMatchObject({ code: 'document_refused' });
      await expect(said, title).rejects.toThrow(reason);
      expect(await space.store.get(doc._id), title).toBeUndefined();
    }
  });
});
