import { expect, it } from 'vitest';
import { createResultAttachments } from '../../../src/engine/attachments/contents.js';
import { begun } from '../../decide/story.js';

const name = 'result-0-1.json';

/** Who has the attachment; a number: all copies, once it was waited for them so often. */
type Has = 'all' | 'some' | 'none' | number;

/** Reads the result of a job of which one copy, or all of them, have the attachment. */
async function read(copies: number, has: Has, isListed: boolean) {
  const said: unknown[] = [];
  let asked = 0;
  let rests = 0;
  const { liveJob } = begun(['a', 'b']).did('a', { $attachment: name, bytes: 70_000 });
  const job = {
    ...liveJob,
    _rev: '4-a',
    ...(isListed ? { _attachments: { [name]: { stub: true, digest: 'md5-x' } } } : {}),
  };
  const contents = createResultAttachments({
    store: {
      attachment: (_id, _name, of) => {
        asked += 1;
        const isThere =
          has === 'all' ||
          (has === 'some' && of?.rev === '4-a') ||
          (typeof has === 'number' && rests >= has);
        return Promise.resolve(isThere ? '{"n":1}' : undefined);
      },
    },
    retry: (ask) => ask(),
    copies: () => copies,
    rest: async () => void (rests += 1),
    log: { warn: (_about: unknown, what: string) => said.push(what) } as never,
  });
  const found = await contents.of(job, [name]);
  return { value: found?.get(name), said, asked };
}

const gone = {
  value: { $attachment: name, bytes: 70_000 },
  said: [`Attachment ${name} cannot be read.`],
};
const there = { value: { n: 1 }, said: [] };

it.each<[string, number, Has, boolean, object]>([
  ['is read from any copy', 3, 'all', true, { ...there, asked: 1 }],
  ['is read from all copies when one is behind', 3, 'some', true, { ...there, asked: 2 }],
  ['is read when the copies that have it are back', 3, 5, true, { ...there, asked: 11 }],
  ['is its reference when no copy has it for long', 3, 'none', true, { ...gone, asked: 16 }],
  ['is its reference when the job does not list it', 3, 'none', false, { ...gone, asked: 2 }],
  ['is asked for once where there is one copy', 1, 'none', true, { ...gone, asked: 1 }],
])('a result in an attachment %s', async (_what, copies, has, isListed, expected) => {
  expect(await read(copies, has, isListed)).toEqual(expected);
});
