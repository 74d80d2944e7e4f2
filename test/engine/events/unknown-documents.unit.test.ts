import { expect, it } from 'vitest';
import type { Log } from '../../../src/engine/log.js';
import { createUnknownDocumentLog } from '../../../src/engine/events/unknown-documents.js';

function ready() {
  const told: string[] = [];
  const warn = (_about: unknown, message: string): void => void told.push(message);
  const strangers = createUnknownDocumentLog({ warn } as unknown as Log);
  return { told, see: (_id: string, type: unknown) => strangers({ _id, _rev: '1-x', type }) };
}

it('warns once for each type of document that no engine acts on', () => {
  const { told, see } = ready();
  for (const id of ['s1', 's2']) see(id, 'schedule');
  see('h1', 'hook');
  expect(told).toEqual([
    'Document s1 has no effect: its type is the string "schedule", which this version does not read. Further documents of that type are not reported.',
    expect.stringContaining('Document h1 has no effect'),
  ]);
});

it.each(['task', 'flow', 'lock', 'token', 'engine-control', 5, undefined, null])(
  'is silent about a document of type %j',
  (type) => {
    const { told, see } = ready();
    see('x', type);
    expect(told).toEqual([]);
  },
);

it('names a hundred types at most, and no long one in full', () => {
  const { told, see } = ready();
  for (let i = 0; i < 200; i += 1) see('x', `kind-${i}`);
  expect(told).toHaveLength(100);
  const long = ready();
  long.see('x', 'y'.repeat(10_000));
  expect(long.told.join('').length).toBeLessThan(300);
});
