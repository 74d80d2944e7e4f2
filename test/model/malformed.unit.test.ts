import { describe, expect, it } from 'vitest';
import { exits } from '../../src/model/step.js';
import type { Problem } from '../../src/model/problems.js';
import { readDesign } from '../../src/store/design-source.js';
import { compileDesign } from '../store/design-function.js';
import { endOf, readCorpus } from './corpus.js';

const corpus = readCorpus();
const { validate_doc_update: text = '' } = await readDesign('guard');
const validate = compileDesign<(doc: unknown, old: unknown) => void>(text);

describe('the corpus of malformed documents', () => {
  it('holds at least forty cases, each with one job and ids of its own', () => {
    expect(corpus.length).toBeGreaterThanOrEqual(40);
    const jobs = corpus.map(({ documents }) => documents.filter((doc) => doc['type'] === 'job'));
    expect(jobs.every(({ length }) => length === 1)).toBe(true);
    const ids = corpus.flatMap(({ documents }) => documents.map(({ _id }) => _id));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(corpus)('$file tells which documents the database itself refuses', (malformed) => {
    const refused = malformed.documents.filter(isRefused).map(({ _id }) => _id);
    expect(refused).toEqual(malformed.refused ?? []);
  });

  it.each(corpus)('$file holds a job that the database lets the engine end', async (malformed) => {
    const stored = malformed.documents.find((doc) => doc['type'] === 'job');
    validate(await endOf(malformed.documents), stored);
  });
});

describe('a job', () => {
  it.each(corpus)('ends with exit 3 and the reason for $title ($file)', async (malformed) => {
    const { failure: name, path, mentions } = malformed.expect;
    const { exit, state, failure, ...job } = await endOf(malformed.documents);
    expect({ exit, state, name: failure?.name }).toEqual({
      exit: exits.definition,
      state: '$$complete',
      name,
    });
    expect(failure?.message).toContain(path ?? '');
    for (const text of mentions) expect(failure?.message).toContain(text);
    if (name.startsWith('Invalid')) {
      expect((job['problems'] as readonly Problem[])[0]?.path).toBe(path);
    }
  });

  it.each(corpus)('gets a sentence that fits a line or two for $file', async ({ documents }) => {
    const { failure } = await endOf(documents);
    expect(failure?.message).toMatch(/^[A-Z].*[.")]$/);
    expect(failure?.message.length).toBeLessThan(300);
    expect(failure?.message).not.toMatch(/undefined|\[object|hunter2|Invalid input/);
  });
});

function isRefused(doc: unknown): boolean {
  try {
    validate(doc, null);
    return false;
  } catch {
    return true;
  }
}
