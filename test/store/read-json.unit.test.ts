import { describe, expect, it } from 'vitest';
import { parseDocument } from '../../src/reading/parse.js';
import type { StoredDocument } from '../../src/model/document.js';
import { parsePieces } from '../../src/store/parse-pieces.js';
import { readJson } from '../../src/store/exchange.js';

const job = (members: string): string =>
  `{"_id":"a","_rev":"1-a","type":"job","flow":"f","owner":"me",${members}}`;
const length = 1_500_000;
const many = (part: string): string => part.repeat(Math.floor(length / part.length));
const keys = (count: number): string =>
  Array.from({ length: count }, (_, i) => `"k${i}":1`).join(',');
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

const bombs: readonly (readonly [string, string, string])[] = [
  ['zeros', 'params', `{"a":[${many('0,')}0]}`],
  ['empty lists', 'params', `{"a":[${many('[],')}0]}`],
  ['empty objects', 'params', `[${many('{},')}0]`],
  ['empty texts', 'params', `["${many('","')}"]`],
  ['nested lists', 'params', nested(length / 2)],
  ['nested objects', 'keys', `${many('{"a":')}1${'}'.repeat(length / 5)}`],
  ['keys', 'params', `{${keys(120_000)}}`],
  ['keys of another name', 'unheard-of', `{${keys(120_000)}}`],
];

/** So much is read in no less than several pieces of time, on a fast machine too. */
const fourTimes = (value: string): string => [value, value, value, value].join(',');

/** How often the event loop goes round while something is done. */
async function roundsDuring(work: () => Promise<unknown>): Promise<number> {
  let rounds = 0;
  let isOver = false;
  const count = (): void => {
    rounds += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await work();
  isOver = true;
  return rounds;
}

describe('a document that is too large', () => {
  it.each(bombs)('by its %s is read and told', async (_kind, key, value) => {
    const text = job(`"before":1,"${key}":${value},"after":2`);
    const doc = (await readJson(text)) as StoredDocument;
    expect(doc).toMatchObject({ _id: 'a', before: 1, after: 2 });
    const parsed = parseDocument(doc);
    expect(parsed).toMatchObject({ kind: 'job', ok: false, problems: [{ path: key }] });
  });

  it('by its number of keys is read and told', async () => {
    const doc = (await readJson(job(keys(60_000)))) as StoredDocument;
    const message = 'The document has more than 10000 keys.';
    expect(parseDocument(doc)).toMatchObject({ ok: false, problems: [{ path: '', message }] });
  });

  it('is read whole when it is under way: what engines wrote into it must not end it', async () => {
    const text = job(`"state":"a-1","start":1,"steps":[],"params":[${many('0,')}0]`);
    expect(await readJson(text)).toEqual(JSON.parse(text));
  });
});

describe('what engines write is read', () => {
  const steps = Array.from({ length: 20_000 }, (_, index) => ({
    ...{ index, path: `0.map.${index}`, name: 'step', state: '$$complete', exit: 0 },
    ...{ params: { a: 1, b: 'x' }, result: { ok: true, list: [1, 2, 3] } },
  }));

  it('as the steps of a job', async () => {
    const doc = { ...(JSON.parse(job('"state":"a-1"')) as object), steps };
    expect(await readJson(JSON.stringify(doc))).toEqual(doc);
  });

  it('as the answer of a worker', async () => {
    const data = Array.from({ length: 300_000 }, (_, i) => i);
    const answer = { _id: 's', _rev: '1-a', type: 'signal', name: 'lease/1', job: 'a', data };
    expect(await readJson(JSON.stringify(answer))).toEqual(answer);
  });
});

it('the event loop goes on while a large answer is read', async () => {
  // What is nested deeper than `parsePieces` goes is read by one JSON.parse: a database stores no such
  // document, so it can only come from a server that is none.
  const texts = bombs
    .filter(([kind]) => !kind.startsWith('nested'))
    .map(([, key, value]) => job(`"${key}":[${fourTimes(value)}]`));
  const steps = `[${many('{"index":1,"result":{"a":[1,2]}},')}{}]`;
  const live = job(`"state":"a-1","steps":[${fourTimes(steps)}]`);
  for (const text of [...texts, live, job(keys(60_000))]) {
    expect(await roundsDuring(() => readJson(text))).toBeGreaterThan(1);
  }
});

describe('a text that is parsed in pieces', () => {
  const long = 'x'.repeat(40_000);
  it.each<[string, unknown]>([
    ['long texts', { a: long, b: [long, long], c: { d: long, e: [] } }],
    ['quotes and backslashes', ['\\', '"', '\\"', '\\\\"', `${long}\\`, '"],[{,:}']],
    [
      'short things behind long ones, on each level',
      [
        [long],
        [1],
        [{ a: [long] }, [2], { b: {} }],
        { c: { d: long }, e: { f: 3 } },
        { g: [] },
        [],
      ],
    ],
    ['deep lists', JSON.parse(nested(1_500))],
    ['a list of short lists', Array.from({ length: 30_000 }, (_, i) => [i, {}])],
    [
      'an object of short objects',
      Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`k${i}`, { i }])),
    ],
    ['a name that is no ordinary one', JSON.parse(`{"__proto__":${JSON.stringify([long])},"b":1}`)],
    ['short things', [1]],
    ['a number', 1],
  ])('J1, J2: %s is what JSON.parse makes of it', async (_title, value) => {
    for (const space of [0, 1]) {
      const text = ` ${JSON.stringify(value, null, space)}\n`;
      expect(await parsePieces(text)).toEqual(JSON.parse(text));
    }
  });

  it.each([
    ['a comma too many', `[${'0,'.repeat(40_000)}]`],
    ['a comma too many at the front', `[,${'0,'.repeat(40_000)}0]`],
    ['a comma missing', `[["${long}"]0]`],
    ['a comma missing before', `[0["${long}"]]`],
    ['a name missing', `{["${long}"]}`],
    ['a colon missing', `{"a"["${long}"]}`],
    ['two names', `{"a":"b":["${long}"]}`],
    ['an item with a name', `["a":["${long}"]]`],
    ['the wrong end', `["${long}"}`],
    ['no end', `["${long}"`],
    ['a text without end', `["${long}]`],
    ['something behind', `["${long}"]0`],
    ['something in front', `0["${long}"]`],
    ['two values', `["${long}"]["${long}"]`],
    ['nothing', ''],
    ['an empty member', `{"a":["${long}"],}`],
  ])('with %s is no JSON', async (_title, text) => {
    expect(() => JSON.parse(text) as unknown).toThrow();
    expect(await parsePieces(text)).toBeUndefined();
  });
});
