import { describe, expect, it } from 'vitest';
import { openWorkspace } from '../../support/workspace.js';

const documents = (name: string, more: Record<string, unknown> = {}) => [
  { _id: `task:DEFAULT:${name}`, type: 'task', name, ...more },
  { _id: `flow:me:${name}`, type: 'flow', name, owner: 'me', tasks: [name] },
];
const job = (flow: string) => ({ type: 'job', flow, owner: 'me' });

/** Blocks its event loop for so many ms. */
const busy = (ms: number): string =>
  `for (const end = performance.now() + ${ms}; performance.now() < end;);`;

/** Uses the processor for so many ms, however long that takes on a busy machine. */
const computing = (ms: number): string =>
  `for (const from = process.cpuUsage();;) {
    const { user, system } = process.cpuUsage(from);
    if (user + system > ${ms} * 1000) break;
  }`;

describe.each(['thread', 'process'])('a plugin in a %s of its own', (isolate) => {
  const cases: readonly [string, string, Record<string, unknown>, string][] = [
    ['blocks its event loop', busy(30_000), { timeout: 1_500 }, 'StepTimeout'],
    [
      'throws outside its promise',
      `setTimeout(() => { throw new Error('late'); }, 5); await new Promise(() => {});`,
      {},
      'UncaughtInPlugin',
    ],
    [
      'exhausts its heap',
      `const all = []; for (;;) all.push(Array(10_000).fill(Math.random()));`,
      {},
      'IsolateLost',
    ],
    ['ends its process', `process.exit(3);`, {}, 'IsolateLost'],
  ];
  // Shows C-12.
  it.each(cases)('costs only its own step when it %s', async (_title, body, more, failure) => {
    const space = await openWorkspace({
      'bad.mjs': `export const isolate = '${isolate}'; export const memory = 48;
        export default async () => { ${body} };`,
      'good.mjs': 'export default () => "good";',
    });
    await space.put(...documents('bad', { timeout: 20_000, ...more }), ...documents('good'));
    await space.engine({ leaseMs: 2_000, renewMs: 300 });
    const [bad] = await space.put(job('bad'));
    await space.until(String(bad), ({ state }) => state === 'bad-0');
    const good = await space.put(...Array.from({ length: 5 }, () => job('good')));
    const ended = await Promise.all(good.map((id) => space.ended(id)));
    const worst = await space.ended(String(bad));
    expect(worst).toMatchObject({ steps: [{ failure: { name: failure } }] });
    expect(worst.steps[0]).not.toHaveProperty('blocked_ms');
    for (const { exit, start, end } of ended) {
      expect(exit).toBe(0);
      expect(Number(end) - Number(start)).toBeLessThan(15_000);
    }
  });
});

describe('a plugin that shares the process of the engine', () => {
  it.each([
    ['at once', computing(2_500)],
    ['after a pause', `await new Promise((r) => setTimeout(r, 300)); ${computing(2_500)}`],
  ])('is told for what it did when it blocks it %s', async (_title, body) => {
    const space = await openWorkspace({
      'block.mjs': `export default async () => { ${body} return 1; };`,
    });
    await space.put(...documents('block'));
    await space.engine();
    const [id] = await space.put(job('block'));
    const ended = await space.ended(String(id));
    expect(ended).toMatchObject({ exit: 0, steps: [{ result: 1 }] });
    expect(Number(ended.steps[0]?.['blocked_ms'])).toBeGreaterThanOrEqual(1_000);
    const line = await space.logged(({ message }) => message.includes('blocked the engine'));
    expect(line.level).toBe('warn');
    expect(line.message).toContain(`Plugin block blocked the engine for`);
    expect(line.message).toContain(`(step block of job ${id})`);
  });
});
