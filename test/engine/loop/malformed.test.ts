import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Ended, Workspace } from '../../support/workspace.js';
import { openWorkspace } from '../../support/workspace.js';
import { request } from '../../support/couch.js';

type Case = {
  readonly title: string;
  readonly documents: readonly (Record<string, unknown> & { readonly _id: string })[];
  readonly expect: {
    readonly failure: string;
    readonly path?: string;
    readonly mentions: readonly string[];
  };
  /** A part of the sentence with which the database refuses one of the documents. */
  readonly refused?: unknown;
};

const folder = join(import.meta.dirname, '..', '..', 'fixtures', 'malformed');
const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
const cases = files.map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as Case);

/** PUTs documents as curl would; answers with the sentences of those that were refused. */
async function putRaw(space: Workspace, documents: Case['documents']): Promise<readonly string[]> {
  const refused: string[] = [];
  for (const doc of documents) {
    const path = `/${space.store.connection.database}/${encodeURIComponent(doc._id)}`;
    const { status, body } = await request('PUT', path, { body: doc });
    if (status === 403) refused.push(String(body.reason));
    else expect(status, `PUT ${doc._id}`).toBeLessThan(300);
  }
  return refused;
}

function jobOf({ documents }: Case): string {
  const job = documents.find((doc) => doc['type'] === 'job');
  return String(job?._id);
}

function expectEnd(ended: Ended, { title, expect: wanted }: Case): void {
  expect(ended, title).toMatchObject({ exit: 3, failure: { name: wanted.failure } });
  const said = JSON.stringify([ended.failure, ended['problems']]);
  for (const word of [wanted.path ?? '', ...wanted.mentions]) {
    expect(said, title).toContain(JSON.stringify(word).slice(1, -1));
  }
}

describe(`${cases.length} malformed documents, stored straight into the database`, () => {
  it('end their jobs with exit 3 and a failure that names the field', async () => {
    const space = await openWorkspace({}, undefined, false);
    for (const one of cases) expect(await putRaw(space, one.documents), one.title).toEqual([]);
    const engine = await space.engine();
    for (const one of cases) expectEnd(await space.ended(jobOf(one)), one);
    // It still works.
    await space.put(
      { _id: 'task:DEFAULT:noop', type: 'task', name: 'noop' },
      { _id: 'flow:me:good', type: 'flow', name: 'good', owner: 'me', tasks: ['noop'] },
      { _id: 'good', type: 'job', flow: 'good', owner: 'me' },
    );
    expect(await space.ended('good')).toMatchObject({ exit: 0 });
    expect(space.log.filter(({ level }) => level === 'error')).toEqual([]);
    onTestFinished(() => engine.stop());
  });

  it('are refused at once where the database can tell, with a sentence for the editor', async () => {
    const space = await openWorkspace({}, undefined, true);
    await space.engine();
    for (const one of cases) {
      const refused = await putRaw(space, one.documents);
      expect(refused.length > 0, one.title).toBe(one.refused !== undefined);
      if (refused.length === 0) expectEnd(await space.ended(jobOf(one)), one);
    }
  });
});
