import { expect, it } from 'vitest';
import { createNotifyLists } from '../../../src/engine/control/notify-lists.js';
import { createQueueControls } from '../../../src/engine/control/queue-controls.js';
import type { Log } from '../../../src/engine/log.js';

const telling = {
  store: { write: () => Promise.resolve({ kind: 'conflict' as const }) },
  log: {} as Log,
  isReporter: () => false,
};

it.each([
  ['queue-control', createQueueControls(telling)],
  ['notify', createNotifyLists({ ...telling, settings: [] })],
])('what the feed brings while all are read is newer than what is read: %s', (type, kept) => {
  const doc = (_id: string, n = 1) => ({ _id, _rev: `${n}-x`, type, queue: _id });
  const revs = () => [...kept.held].map(([id, { _rev }]) => `${id} ${_rev}`).sort();
  for (const id of ['gone', 'lost', 'same']) kept.update(id, doc(id));
  const mark = kept.mark();
  kept.update('new', doc('new'));
  kept.update('same', doc('same', 2));
  kept.update('gone', undefined);
  kept.replace([doc('gone'), doc('same')], mark);
  expect(revs()).toEqual(['new 1-x', 'same 2-x']);
  kept.replace([doc('same', 3)], kept.mark());
  expect(revs()).toEqual(['same 3-x']);
});
