import { beforeAll, describe, expect, test } from 'vitest';
import { installDesign } from '../../src/store/design.js';
import { openStore, type Store } from '../../src/store/store.js';
import { freshDatabase, request, storeAll, type Document } from '../support/couch.js';
import { connect } from './connect.js';
import { validateCases } from './validate-cases.js';
import { text } from './matchers.js';

let store: Store;
let revisions: readonly string[];
const documents = validateCases.map((one, i) => ({
  ...one,
  id: (one.after['_id'] as string | undefined) ?? `case-${i}`,
}));

beforeAll(async () => {
  const database = await freshDatabase();
  const before = documents.flatMap(({ id, before: old }): Document[] =>
    old === undefined ? [] : [{ _id: id, ...old }],
  );
  revisions = await storeAll(database, before);
  await installDesign(connect(database));
  store = openStore(connect(database));
});

describe('the server', () => {
  test.each(
    documents.map((one) => [one.refused ? 'refuses' : 'lets pass', one.title, one] as const),
  )('%s: %s', async (_verb, _title, { id, before, after, refused }) => {
    const at = documents
      .filter((one) => one.before !== undefined)
      .findIndex((one) => one.id === id);
    const rev = before === undefined ? {} : { _rev: String(revisions[at]) };
    const result = await store.write({ _id: id, ...rev, ...after });
    if (refused === undefined) expect(result).toMatchObject({ kind: 'written' });
    else expect(result).toEqual({ kind: 'refused', reason: text(refused) });
  });

  test('lets replication bring a job that went on elsewhere', async () => {
    const here = await freshDatabase();
    const there = await freshDatabase();
    await installDesign(connect(there));
    const first = await request('PUT', `/${here}/j`, { body: { type: 'job', flow: 'daily' } });
    const copy = async (): Promise<void> => {
      const { body } = await request<Document>('GET', `/${here}/j?revs=true`);
      const answer = await request('POST', `/${there}/_bulk_docs`, {
        body: { docs: [body], new_edits: false },
      });
      expect([answer.status, answer.body]).toEqual([201, []]);
    };
    await copy();
    let rev = String(first.body.rev);
    for (const state of ['$$ready', 'a-0', 'b-1', '$$complete']) {
      const doc = { _rev: rev, type: 'job', flow: 'daily', state, steps: [], exit: 0, run: 1 };
      rev = String((await request('PUT', `/${here}/j`, { body: doc })).body.rev);
    }
    await copy();
    expect(await openStore(connect(there)).get('j')).toMatchObject({ state: '$$complete' });
  });
});
