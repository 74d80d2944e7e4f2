import { describe, expect, it } from 'vitest';
import { childId, continuationOf, isMadeBy } from '../../src/reading/parent.js';
import { t0 } from '../support/builders.js';
import { story } from '../decide/story.js';

function job(_id = 'j') {
  const told = story({ steps: ['a'], job: { _id } });
  told.go();
  return told.liveJob;
}

const notifies = { job: 'j', run: 1, status: 'failed', depth: 1 };

describe('isMadeBy', () => {
  it.each([
    [true, 'the child of a step', { parent: { job: 'j', step: '0', start: t0 } }],
    [true, 'the job that goes on', { continued_from: 'j', continued_start: t0 }],
    [false, 'the child of a former job of the id', { parent: { job: 'j', start: t0 - 1 } }],
    [
      false,
      'what goes on from a former job of the id',
      { continued_from: 'j', continued_start: 1 },
    ],
    [false, 'the child of another job that began then', { parent: { job: 'k', start: t0 } }],
    [false, 'what goes on from another job', { continued_from: 'k', continued_start: t0 }],
    [false, 'a job that names no time', { parent: { job: 'j', step: '0' }, continued_from: 'j' }],
    [false, 'a document with no parent', { parent: null }],
    [true, 'what tells of its end', { notifies: { ...notifies, start: t0 } }],
    [false, 'what tells of a former job of the id', { notifies: { ...notifies, start: 1 } }],
    [true, 'what tells of an end before it began', { notifies: { ...notifies, of_rev: '1-new' } }],
    [false, 'what tells of another revision', { notifies: { ...notifies, of_rev: '1-old' } }],
    [false, 'what tells of another job', { notifies: { ...notifies, job: 'k', start: t0 } }],
  ])('says %s of %s', (expected, _title, doc) => {
    expect(isMadeBy(doc, job())).toBe(expected);
  });
});

describe('continuationOf', () => {
  it.each([
    [{ state: '$$complete', continued_to: 'j~2' }, 'j~2'],
    [{ state: '$$complete' }, undefined],
    [{ state: '$$complete', continued_to: 5 }, undefined],
    [{ state: 'a-0', continued_to: 'j~2' }, undefined],
  ])('of %j is %s', (doc, id) => {
    expect(continuationOf(doc)).toBe(id);
  });
});

describe('childId', () => {
  it.each([
    ['j', { path: '1', attempt: 2 }, 'j:1:2', `j:1:2:${t0}`],
    ['j', { path: '0.continue', attempt: 1, continues: true }, 'j~2', `j:${t0}~2`],
    ['j~2', { path: '0.continue', attempt: 1, continues: true }, 'j~3', `j:${t0}~3`],
    [`j:${t0}~3`, { path: '0.continue', attempt: 1, continues: true }, `j:${t0}~4`, undefined],
  ])('of job %s and step %o is %s, marked %s', (id, step, plain, marked) => {
    expect(childId(job(id), step)).toBe(plain);
    if (marked !== undefined) expect(childId(job(id), step, true)).toBe(marked);
  });
});
