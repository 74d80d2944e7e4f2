import { describe, expect, it } from 'vitest';
import { flow, job, task } from '../../support/documents.js';
import { openWorkspace, type Workspace } from '../../support/workspace.js';

/** Runs until the test lets it go, or until it is told to stop. */
const hold = `export default ({ signal, step }) => new Promise((resolve, reject) => {
  signal.addEventListener('abort', () => reject(signal.reason));
  (globalThis.held ??= new Set()).add(resolve);
});`;
const echo = `export default ({ params }) => params;`;
const boom = `export default () => { throw new Error('no'); };`;
const silent = `export default ({ signal }) => new Promise((_, reject) => {
  signal.addEventListener('abort', () => reject(signal.reason));
});`;
/** Has one timer run, and completes when it has fired. */
const decider = `export default ({ history }) =>
  history.every(({ kind }) => kind !== 'TimerFired') ? [{ start_timer: 300, id: 'nap' }] : { complete: 'late' };`;

const plugins = {
  'hold.mjs': hold,
  'echo.mjs': echo,
  'boom.mjs': boom,
  'silent.mjs': silent,
  'decider.mjs': decider,
};

type Step = Readonly<Record<string, unknown>>;
type Doc = Readonly<Record<string, unknown>>;

const stepsOf = (doc: Doc): readonly Step[] => (doc['steps'] ?? []) as readonly Step[];
const isAt = (path: string, state: string, attempt?: number) => (doc: Doc) =>
  stepsOf(doc).some(
    (step) =>
      step['path'] === path &&
      step['state'] === state &&
      (attempt === undefined || step['attempt'] === attempt),
  );
const holds = (doc: Doc): boolean =>
  stepsOf(doc).some(({ name, state }) => name === 'hold' && state === '$$active');

/** Timers of a job, each beside a step that runs until the timer has fired. */
type Beside = [kind: string, entry: unknown, fired: (doc: Doc) => boolean, more: Doc];
const beside: Beside[] = [
  ['a delay', { delay: 300 }, isAt('0.parallel.1', '$$complete'), {}],
  [
    'a delay before another step',
    [{ delay: 300 }, 'echo'],
    isAt('0.parallel.1.sequence.1', '$$complete'),
    {},
  ],
  [
    'the timeout of a wait',
    { wait: { signal: 'never', timeout: 300 } },
    isAt('0.parallel.1', '$$timeout'),
    {},
  ],
  [
    'the timeout of a wait for an event',
    { wait: { event: 'never', key: 'k', timeout: 300 } },
    isAt('0.parallel.1', '$$timeout'),
    {},
  ],
  ['an accept timeout', 'nobody', isAt('0.parallel.1', '$$timeout'), {}],
  ['a total timeout', 'total', isAt('0.parallel.1', '$$timeout'), {}],
  ['a heartbeat', 'quiet', isAt('0.parallel.1', '$$timeout'), {}],
  [
    'a retry',
    { task: 'boom', retry: { limit: 1, delay: 300 } },
    isAt('0.parallel.1', '$$error', 2),
    {},
  ],
  [
    'the timer of a decider',
    { decider: 'decider' },
    isAt('0.parallel.1.timer.nap', '$$complete'),
    {},
  ],
  [
    'the soft timeout of a flow, for a step that nobody serves',
    'unserved',
    isAt('0.parallel.1', '$$timeout'),
    { timeout: 300 },
  ],
  [
    'the timeout of a wait in a pause',
    [{ wait: { signal: 'never', timeout: 1_000 } }],
    isAt('0.parallel.1.sequence.0', '$$timeout'),
    { pause: true },
  ],
];

/** No test waits for what it holds when its engines stop. */
const options = { drainMs: 0, graceMs: 0 };

async function ready(engines: number): Promise<Workspace> {
  const space = await openWorkspace(plugins);
  await space.put(
    task('hold', { timeout: 0 }),
    task('echo'),
    task('boom'),
    task('quiet', { plugin: 'silent', heartbeat: 300 }),
    task('total', { plugin: 'silent', timeout: 0, total_timeout: 300 }),
    task('nobody', { accept_timeout: 300 }),
    task('unserved', { plugin: 'nowhere' }),
  );
  for (let i = 0; i < engines; i += 1) await space.engine(options);
  return space;
}

describe.each([1, 2])('with %d engines,', (engines) => {
  // Shows E-02, H-07.
  it.each<Beside>(beside)(
    '%s fires while another step of the job runs',
    async (_kind, entry, fired, more) => {
      const space = await ready(engines);
      const { pause, ...settings } = more;
      const other = Array.isArray(entry) ? { sequence: entry } : entry;
      await space.put(flow('f', [{ parallel: ['hold', other] }], { timeout: 0, ...settings }));
      await space.put(job('f', { _id: 'j' }));
      if (pause === true) {
        await space.until('j', holds);
        await space.put({ type: 'request', action: 'pause', job: 'j' });
      }
      const seen = await space.until('j', (doc) => fired(doc));
      expect(holds(seen)).toBe(true);
    },
  );

  // Shows E-05.
  it('the hard timeout of a flow ends the job while its step runs', async () => {
    const space = await ready(engines);
    await space.put(flow('f', ['hold'], { timeout: 300, timeout_mode: 'hard' }));
    await space.put(job('f', { _id: 'j' }));
    const ended = await space.ended('j');
    expect(ended).toMatchObject({
      exit: 1,
      failure: { name: 'FlowTimeout' },
      steps: [{ name: 'hold', state: '$$timeout' }],
    });
  });

  it('the hard timeout of a flow is waited for beside a wait and in a pause', async () => {
    const space = await ready(engines);
    await space.put(
      flow('f', [{ parallel: ['hold', { wait: { signal: 'never' } }] }], {
        timeout: 1_000,
        timeout_mode: 'hard',
      }),
    );
    await space.put(job('f', { _id: 'j' }));
    await space.until('j', holds);
    await space.put({ type: 'request', action: 'pause', job: 'j' });
    expect(await space.ended('j')).toMatchObject({ exit: 1, failure: { name: 'FlowTimeout' } });
  });

  it('a job expires and another begins while all slots are taken', async () => {
    const space = await ready(0);
    for (let i = 0; i < engines; i += 1) await space.engine({ ...options, slots: 1 });
    await space.put(flow('f', ['hold'], { timeout: 0 }), flow('g', [{ delay: 1 }]));
    const running = await space.put(...Array.from({ length: engines }, () => job('f')));
    await Promise.all(running.map((id) => space.until(id, holds)));
    await space.put(
      job('f', { _id: 'late', expires: Date.now() + 300 }),
      job('f', { _id: 'paused', paused: true, expires: Date.now() + 300 }),
      job('g', { _id: 'later', exec_after: Date.now() + 300 }),
    );
    expect(await space.ended('late')).toMatchObject({ exit: 5, failure: { name: 'Expired' } });
    expect(await space.ended('paused')).toMatchObject({ exit: 5, failure: { name: 'Expired' } });
    expect(await space.ended('later')).toMatchObject({ exit: 0 });
  });

  it.each([
    ['a wait', { wait: { signal: 'x', timeout: 300 } }, 'WaitTimeout'],
    ['a step that nobody accepts', 'nobody', 'AcceptTimeout'],
  ])('the time of %s ends the job with that cause, and stops the rest', async (...given) => {
    const [, cause, name] = given;
    const space = await ready(engines);
    await space.put(flow('f', [{ parallel: ['hold', cause], on_fail: 'cancel_rest' }]));
    await space.put(job('f', { _id: 'j' }));
    const ended = await space.ended('j');
    expect(ended).toMatchObject({ state: '$$complete', exit: 1, failure: { name } });
    expect(ended.steps.find((step) => step['name'] === 'hold')?.state).toBe('$$cancelled');
  });
});
