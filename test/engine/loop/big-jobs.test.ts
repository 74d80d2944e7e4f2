import { describe, expect, it } from 'vitest';
import { openWorkspace } from '../../support/workspace.js';

const task = (name: string) => ({ _id: `task:DEFAULT:${name}`, type: 'task', name });
const flow = (tasks: unknown, more: Record<string, unknown> = {}) => ({
  ...{ _id: 'flow:me:f', type: 'flow', name: 'f', owner: 'me', timeout: 0 },
  tasks,
  ...more,
});
const job = { type: 'job', flow: 'f', owner: 'me' };
const plugins = {
  'big.mjs': `export default ({ params }) => ({ text: 'x'.repeat(params.bytes), n: params.n });`,
  'sees.mjs': `export default ({ params, results }) => ({
    given: params.text?.length,
    seen: results.big.text.length,
    n: params.n,
  });`,
};
const big = (bytes: number, n = 1) => ({ task: 'big', params: { bytes, n } });

describe('a result over 64 KiB', () => {
  // Shows G-05.
  it('is an attachment of its job, and later steps, conditions and the output see it whole', async () => {
    const space = await openWorkspace(plugins);
    await space.put(
      task('big'),
      task('sees'),
      flow(
        [
          big(200_000, 7),
          {
            task: 'sees',
            when: '$length(results.big.text) = 200000',
            params: { n: '{{results.big.n}}' },
          },
          { structure: 'map', map: { over: 'results.big.n', do: 'sees' } },
        ],
        { output: '$length(results.big.text)' },
      ),
    );
    await space.engine();
    const [id] = await space.put(job);
    const ended = await space.ended(String(id));
    const name = 'result-0-1.json';
    expect(ended).toMatchObject({
      exit: 0,
      result: 200_000,
      steps: [
        { result: { $attachment: name, bytes: 200_017 } },
        { result: { seen: 200_000, n: 7 } },
        { structure: 'map' },
        { result: { seen: 200_000 } },
      ],
      _attachments: { [name]: { stub: true, content_type: 'application/json' } },
    });
    const text = await space.store.attachment(String(id), name);
    expect(JSON.parse(String(text))).toEqual({ text: 'x'.repeat(200_000), n: 7 });
    expect(await space.store.attachment(String(id), 'none')).toBeUndefined();
  });

  it('is read by another engine, and by its parent as the result of a child job', async () => {
    const space = await openWorkspace({
      ...plugins,
      'length.mjs': `export default ({ results }) => results.child.text.length;`,
    });
    await space.put(
      task('big'),
      task('length'),
      flow([big(100_000)], { _id: 'flow:me:inner', name: 'inner', output: 'results.big' }),
      flow([{ flow: 'inner', name: 'child' }, 'length']),
    );
    await Promise.all([space.engine({ slots: 1 }), space.engine({ slots: 1 })]);
    const [id] = await space.put(job);
    expect(await space.ended(String(id))).toMatchObject({
      exit: 0,
      steps: [{ result: { $attachment: 'result-0-1.json' } }, { result: 100_000 }],
    });
  });
});

describe('a job that nears the limit of documents', () => {
  const sentence =
    /^The job would be \d+ bytes long, and the database takes documents of \d+ at most:/;

  // Shows X-49.
  it('fails the step whose result would be too much, and keeps all others', async () => {
    const space = await openWorkspace(plugins);
    const all = Array.from({ length: 150 }, (_, n) => n);
    const over = { over: all, do: big(60_000), limit: 10, tolerate: '100%' };
    await space.put(task('big'), flow({ structure: 'map', map: over }));
    await space.engine();
    const [id] = await space.put(job);
    const ended = await space.ended(String(id));
    const failed = ended.steps.filter(({ state }) => state === '$$error');
    expect(failed.length).toBeGreaterThan(5);
    for (const step of failed) {
      expect(step).toMatchObject({
        exit: 2,
        failure: {
          name: 'JobTooLarge',
          message: expect.stringMatching(sentence) as string,
          retryable: false,
        },
      });
    }
    expect(ended.steps.filter(({ state }) => state === '$$complete').length).toBeGreaterThan(110);
    expect(ended).toMatchObject({
      problems: [{ message: expect.stringMatching(/longer than \d+ bytes/) as string }],
    });
    expect(ended).toMatchObject({ exit: 0 });
  });

  it('fails with exit 2 by a limit of the settings', async () => {
    const space = await openWorkspace(plugins);
    await space.put(task('big'), flow([big(30_000)]));
    await space.engine({ documentLimit: 20_000 });
    const [id] = await space.put(job);
    expect(await space.ended(String(id))).toMatchObject({
      exit: 2,
      failure: { name: 'JobTooLarge', message: expect.stringMatching(sentence) as string },
      steps: [{ state: '$$error', attempt: 1 }],
    });
  });

  it('ends when it cannot go on at all', async () => {
    const space = await openWorkspace(plugins);
    await space.put(
      task('big'),
      flow([{ task: 'big', params: { bytes: 1, more: 'y'.repeat(3_000) } }]),
    );
    await space.engine({ documentLimit: 5_000 });
    const [id] = await space.put(job);
    expect(await space.ended(String(id))).toMatchObject({
      exit: 3,
      failure: { name: 'JobTooLarge', message: expect.stringMatching(sentence) as string },
    });
  });
});

describe('the limit of documents', () => {
  it('is read from the server', async () => {
    const { store } = await openWorkspace();
    expect(await store.documentLimit()).toBe(8_000_000);
  });
});
