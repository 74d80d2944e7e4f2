import { describe, expect, it } from 'vitest';
import { endFaulty, endMalformed, endRefusedJob } from '../../../src/engine/loop/end-job.js';
import { failure } from '../../../src/model/failures.js';
import type { StoredDocument } from '../../../src/model/document.js';
import { t0 } from '../../support/builders.js';
import { writeParts, type Answer } from './write-parts.js';

const doc = { _id: 'j', _rev: '1-a', type: 'job', flow: 'f', state: 'a-0', start: t0, steps: [] };
const why = failure('DecisionFault', { reason: 'it throws' });

/** The parts that end jobs; `seen` also tells of events. */
function endParts(docs: readonly StoredDocument[]) {
  const { parts, seen, ...more } = writeParts({ docs });
  const around = {
    waitQueue: { leave: (id: string) => void seen.push(`leave ${id}`) },
    events: { emit: ({ type }: { readonly type: string }) => void seen.push(type) },
  };
  return { parts: { ...parts, ...around } as never, seen, serializer: parts.serializer, ...more };
}

/** Ends a job as often as the database answers, and returns the log. */
async function logOf(answers: readonly (Answer | 'stored')[]): Promise<readonly string[]> {
  const { parts, store, lines } = endParts([doc]);
  for (const answer of answers) {
    store.docs.set('j', doc);
    if (answer !== 'stored') store.answer('j', answer);
    await endFaulty(parts, doc, why);
  }
  return lines.filter((line) => !line.startsWith('debug'));
}

const because = `error: Job j: ${why.message}`;
const waits = (cause: string): string => `warn: Job j cannot be ended yet: ${cause}. Trying again.`;

describe('the log of a job that is ended', () => {
  it.each<[string, (Answer | 'stored')[], string[]]>([
    ['tells why', ['stored'], [because]],
    [
      'tells each cause that keeps it from being stored once, and that it is stored',
      ['unheard', 'unheard', 'unknown', 'unheard', 'unknown', 'stored'],
      [because, waits('202'), waits('no answer'), 'info: Job j is stored now.'],
    ],
    [
      'tells once that the database refuses it',
      ['refused', 'refused'],
      [
        because,
        'warn: The database refuses a revision of document j: No.',
        'error: The job cannot be ended: No.',
      ],
    ],
    ['tells it anew after it was stored', ['stored', 'stored'], [because, because]],
    [
      'tells it anew after another engine was faster',
      ['conflict', 'unheard'],
      [because, because, waits('202')],
    ],
  ])('%s', async (_what, answers, lines) => {
    expect(await logOf(answers)).toEqual(lines);
  });
});

describe('a job that goes on no more', () => {
  it('ends its attempts here, and gives its locks back, when its end is stored', async () => {
    const { parts, store, seen, running } = endParts([doc]);
    running.add('c');
    const ended = await endFaulty(parts, doc, why);
    expect(ended).toMatchObject({ kind: 'written', doc: { _rev: '2-1', state: '$$complete' } });
    expect(store.limits).toEqual([Infinity]);
    expect(seen).toEqual([
      ...['leave j', 'write j on 1-a', 'adopt the locks of j', 'release the locks of j'],
      'stop c fenced',
    ]);
  });

  it('keeps its attempts and its locks when its end is not stored', async () => {
    const { parts, store, seen, running, serializer } = endParts([doc]);
    running.add('c');
    store.answer('j', 'conflict');
    expect(await endFaulty(parts, doc, why)).toEqual({ kind: 'lost' });
    expect(seen).toEqual(['leave j', 'write j on 1-a']);
    expect(serializer.documents.get('j')).toBeUndefined();
  });

  it('is left to other engines when this one ends', async () => {
    const { parts, store, lines, life } = endParts([doc]);
    life.abort();
    expect(await endFaulty(parts, doc, why)).toMatchObject({ kind: 'lost' });
    expect(store.writes).toEqual([]);
    expect(lines).toEqual([because]);
  });

  it('is an event when it cannot be read, once that is stored', async () => {
    const { parts, store, seen } = endParts([doc]);
    const problems = [{ path: 'params', message: 'params is no object' }] as const;
    store.answer('j', 'conflict');
    await endMalformed(parts, doc, problems);
    expect(seen).not.toContain('job.malformed');
    await endMalformed(parts, doc, problems);
    expect(seen.at(-1)).toBe('job.malformed');
    expect(store.docs.get('j')).toMatchObject({ exit: 3, failure: { name: 'InvalidJob' } });
  });
});

describe('a job that the database refuses', () => {
  const child = { _id: 'j:0:1', _rev: '1-c', type: 'job', state: 'a-0', parent: { job: 'j' } };
  const there = { ...child, parent: { job: 'j', step: '0', start: t0 } };
  const open = { path: '0', state: '$$waiting', child: 'j:0:1', attempt: 1 };
  const parent = { ...doc, _rev: '8-x', steps: [open] };

  it('ends, with what waits in it and its children', async () => {
    const { parts, store } = endParts([parent, there]);
    await endRefusedJob(parts, parent, why);
    expect(store.writes).toMatchObject([
      { type: 'request', job: 'j:0:1', action: 'cancel' },
      { _id: 'j', _rev: '8-x', state: '$$complete', exit: 3, steps: [{ state: '$$cancelled' }] },
    ]);
  });

  it('is left as it is when somebody has written it since', async () => {
    const { parts, store } = endParts([{ ...parent, _rev: '9-y' }, there]);
    expect(await endRefusedJob(parts, parent, why)).toEqual({ kind: 'lost' });
    expect(store.writes).toEqual([]);
  });

  it.each(['$$complete', '$$cancelled'])(
    'is written no more when it is %s and nobody asked for a retry',
    async (state) => {
      const final = { ...parent, state, exit: 0 };
      const { parts, store } = endParts([final]);
      expect(await endRefusedJob(parts, final, why)).toEqual({ kind: 'lost' });
      expect(store.writes).toEqual([]);
    },
  );

  it('keeps its children when somebody writes it while they are looked for', async () => {
    const { parts, store } = endParts([parent, there]);
    const view = async () => {
      store.docs.set('j', { ...parent, _rev: '9-y' });
      return [];
    };
    Object.assign(store, { view });
    expect(await endRefusedJob(parts, parent, why)).toEqual({ kind: 'lost' });
    expect(store.writes).toEqual([]);
  });
});
