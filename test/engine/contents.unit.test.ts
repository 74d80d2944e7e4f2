import { expect, it } from 'vitest';
import { createContents } from '../../src/engine/contents.js';
import { begun } from '../decide/story.js';

const name = 'result-0-1.json';

/** Reads the result of a job of which one copy, or all of them, have the attachment. */
async function read(copies: number, has: 'all' | 'some' | 'none') {
  const said: unknown[] = [];
  const job = {
    ...begun(['a', 'b']).did('a', { $attachment: name, bytes: 70_000 }).liveJob,
    _rev: '4-a',
  };
  const contents = createContents({
    store: {
      attachment: (_id, _name, of) =>
        Promise.resolve(
          has === 'all' || (has === 'some' && of?.rev === '4-a') ? '{"n":1}' : undefined,
        ),
    },
    retry: (ask) => ask(),
    copies: () => copies,
    log: { warn: (_about: unknown, what: string) => said.push(what) } as never,
  });
  const found = await contents.of(job, [name]);
  return { value: found?.get(name), said };
}

const gone = {
  value: { $attachment: name, bytes: 70_000 },
  said: [`Attachment ${name} cannot be read.`],
};

it.each<[string, number, 'all' | 'some' | 'none', object]>([
  ['is read from any copy', 3, 'all', { value: { n: 1 }, said: [] }],
  ['is read from all copies when one is behind', 3, 'some', { value: { n: 1 }, said: [] }],
  ['is its reference when no copy has it', 3, 'none', gone],
  ['is asked for once where there is one copy', 1, 'some', gone],
])('a result in an attachment %s', async (_what, copies, has, expected) => {
  expect(await read(copies, has)).toEqual(expected);
});
