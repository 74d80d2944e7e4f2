import { expect, it } from 'vitest';
import { hostileDocuments, type HostileDocument } from '../support/hostile-documents.js';
import { isFinalState } from '../../src/model/parse.js';
import { openWorkspace } from '../support/workspace.js';

const withinMs = 400_000;

it('hostile documents of every kind hold up none of fifty normal jobs, and no engine', async () => {
  const space = await openWorkspace();
  await space.put(
    { type: 'task', _id: 'task:DEFAULT:noop', name: 'noop' },
    { type: 'task', _id: 'task:DEFAULT:jsonata', name: 'jsonata' },
    { type: 'flow', _id: 'flow:me:f', name: 'f', owner: 'me', tasks: ['noop', 'noop'] },
  );
  const engines = await Promise.all([space.engine(), space.engine()]);
  const lives = engines.map(({ id }) => id);
  const hostile: HostileDocument[] = [];
  for (const document of hostileDocuments(44)) {
    const stored = await space.store.write(document);
    // The server refuses some of them: these are told at once.
    if (stored.kind === 'written') hostile.push(document);
    else expect(stored).toMatchObject({ kind: 'refused' });
  }
  const normal = await space.put(
    ...Array.from({ length: 50 }, () => ({ type: 'job', flow: 'f', owner: 'me' })),
  );
  for (const id of normal) expect(await space.ended(id, withinMs)).toMatchObject({ exit: 0 });
  for (const { _id: id, type } of hostile) {
    if (type !== 'job') continue;
    const isTold = (doc: Readonly<Record<string, unknown>>): boolean =>
      isFinalState(doc['state']) || doc['problems'] !== undefined;
    await space.until(id, isTold, withinMs);
  }
  // An engine that was taken for dead would have had to write its document anew.
  for (const id of lives) expect(await space.store.get(id)).toMatchObject({ state: 'running' });
  expect(space.log.filter(({ message }) => message.includes('is gone; taking over'))).toEqual([]);
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
}, 900_000);
