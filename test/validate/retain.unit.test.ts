import { describe, expect, it } from 'vitest';
import { ownProblems } from '../../src/pages/editor/own-check.js';
import { documentProblems } from '../../src/validate/single.js';

const flow = { type: 'flow', name: 'f', owner: 'DEFAULT', tasks: [{ delay: 1 }] };
const problem = {
  path: 'retain.failed.days',
  message: 'retain.failed.days must be left out: there can be only age, count.',
};

describe('retain of a flow', () => {
  it('is refused by push, the API and the editor where it is not valid', () => {
    const written = { ...flow, retain: { failed: { days: 3 } } };
    expect(documentProblems(written)).toEqual([problem]);
    expect(ownProblems('flow', written)).toEqual([problem]);
  });

  it.each([
    [{ folder: '/var/jobs' }, 'retain.archive.folder must be within the project: only tws.json'],
    [{ folder: 'a/../../b' }, 'retain.archive.folder must be within the project: only tws.json'],
    [{ database: 'http://h/db' }, 'retain.archive.database must be the name of a database: only'],
    [
      { database: 'Bad Name' },
      'retain.archive.database must be the name of a database, or its URL',
    ],
    [{ s3: { bucket: 'b', endpoint: 'http://h' } }, 'retain.archive.s3.endpoint must be left out'],
    [{ s3: { bucket: 'b', secret: 'x' } }, 'retain.archive.s3.secret must be left out'],
    [{ s3: {} }, 'retain.archive.s3.bucket is missing; it must be the name of a bucket'],
    [
      { folder: 'a', database: 'b' },
      'retain.archive must be {folder}, {database} or {s3: {bucket}}',
    ],
    [{ folder: '' }, 'retain.archive.folder must be the path of a folder'],
    [{ tape: 1 }, 'retain.archive.tape must be left out: there can be only folder, database, s3.'],
  ])('with the archive %j is refused', (archive, message) => {
    const written = { ...flow, retain: { archive } };
    expect(documentProblems(written)).toMatchObject([
      { message: expect.stringContaining(message) as string },
    ]);
  });

  it('is taken where it is', () => {
    const written = { ...flow, retain: { failed: { age: 'P3D' } } };
    expect(documentProblems(written)).toEqual([]);
    expect(ownProblems('flow', written)).toEqual([]);
  });
});
