import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { createClient } from '../../../src/client.js';
import type { StoredDocument } from '../../../src/model/document.js';
import { request } from '../../support/couch.js';
import { openWorkspace } from '../../support/workspace.js';
import kinds from './kinds.json' with { type: 'json' };

/** 500 jobs in all states as revision 9b3c044 stored them, whose engine was killed; `make.js` made them. */
const file = join(import.meta.dirname, 'jobs.jsonl.gz');

/** What the plugins of these jobs do now: what was running then ends this time. */
const plugins = {
  'ok.mjs': 'export default async () => ({ n: 1 });',
  'slow.mjs': 'export default async () => ({ slow: true });',
  'bad.mjs': "export default async () => { throw new Error('Broken.'); };",
  'flaky.mjs': 'export default async () => ({ at_last: true });',
  'handled.mjs': "export default async () => { throw new Error('Handled.'); };",
  'big.mjs': "export default async () => ({ text: 'x'.repeat(100_000) });",
};

type Found = Readonly<Record<string, unknown>> & {
  readonly steps?: readonly (Readonly<Record<string, unknown>> & { readonly state: string })[];
};

it('takes up 500 jobs in all states that an earlier version stored, and each ends as it should', async () => {
  const { store, engine, ended } = await openWorkspace(plugins);
  const lines = gunzipSync(await readFile(file))
    .toString()
    .split('\n');
  const docs = lines.map((line) => JSON.parse(line) as StoredDocument);
  const path = `/${store.connection.database}/_bulk_docs`;
  const stored = await request('POST', path, { body: { docs, new_edits: false } });
  expect(stored).toMatchObject({ status: 201, body: [] });
  const jobs = docs.filter(({ type }) => type === 'job');
  expect(jobs.length).toBeGreaterThanOrEqual(500);

  await engine({ leaseMs: 2_000, slots: 50 });
  const client = createClient({ store });
  const wanted = new Map(kinds.map((kind) => [kind.name, kind]));
  const kindOf = (doc: StoredDocument) => wanted.get(doc._id.split('-')[0] ?? '');
  for (const doc of jobs) {
    if (kindOf(doc)?.signal === 'later') await client.signal({ job: doc._id, name: 'go' });
  }
  const wrong: string[] = [];
  for (const before of jobs) {
    const kind = kindOf(before);
    // A child of another job, which has its own kind.
    if (kind === undefined || kind.exit === null) continue;
    const after = (await ended(before._id)) as Found;
    if (after['exit'] !== kind.exit) wrong.push(`${before._id}: exit ${String(after['exit'])}`);
    wrong.push(...changedIn(before, after));
  }
  expect(wrong).toEqual([]);

  // What nobody moves waits as it did: for a person, and for a worker outside.
  for (const name of ['paused-0', 'worker-0']) {
    const doc = await store.get(name);
    expect(doc?.['exit'], name).toBeUndefined();
    expect((doc as Found).steps?.at(-1)?.state, name).toBe('$$waiting');
  }
  await client.signal({ job: 'paused-0', name: 'go' });
  await client.request('paused-0', 'resume');
  expect(await ended('paused-0')).toMatchObject({ exit: 0 });
});

/** What had ended stays as it was; each such step is one difference. */
function changedIn(before: StoredDocument, after: Found): readonly string[] {
  const steps = (before as Found).steps ?? [];
  return steps.flatMap((step, i) => {
    const isOver = step['end'] !== undefined;
    const now = after.steps?.[i];
    const isSame =
      now?.state === step.state && now['end'] === step['end'] && now['path'] === step['path'];
    return isOver && !isSame ? [`${before._id}: step ${i} was changed`] : [];
  });
}
