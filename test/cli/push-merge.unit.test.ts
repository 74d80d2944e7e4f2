import { describe, expect, it } from 'vitest';
import { keptFromPrune, leftRemoved, mergeForPush } from '../../src/cli/push-merge.js';

const named = { type: 'task', name: 'a', plugin: 'noop' };
const file = { path: '/a.json', shown: 'a.json', named: false };

type Json = Readonly<Record<string, unknown>>;

/** What a push stores, when the rest of the three is the same. */
function merge(agreed: Json | undefined, ours: Json, theirs: Json) {
  const merged = mergeForPush({
    file,
    doc: { _id: 't', $schema: 'x', ...named, ...ours },
    stored: { _id: 't', _rev: '2-a', pushed_from: 'p', ...named, ...theirs },
    agreed: agreed && { ...named, ...agreed },
  });
  if ('keys' in merged) return { conflict: merged.keys };
  const { type: _type, name: _name, plugin: _plugin, ...content } = merged.content;
  return { content, kept: merged.kept };
}

const clear = (pass: unknown): Json => ({ params: { smtp: { pass } } });

describe('what a push stores', () => {
  it.each<[string, Json | undefined, Json, Json, Json]>([
    [
      'PU1 what only the file has changed',
      { retry: 1 },
      { retry: 2 },
      { retry: 1 },
      { content: { retry: 2 }, kept: [] },
    ],
    [
      'PU1 what only the file has removed',
      { retry: 1 },
      {},
      { retry: 1 },
      { content: {}, kept: [] },
    ],
    [
      'PU2 what only the database has changed',
      { retry: 1 },
      { retry: 1 },
      { retry: 2 },
      { content: { retry: 2 }, kept: ['retry'] },
    ],
    [
      'PU2 what only the database has added',
      {},
      {},
      { timeout: 5 },
      { content: { timeout: 5 }, kept: ['timeout'] },
    ],
    [
      'PU2 what only the database has removed',
      { retry: 1 },
      { retry: 1 },
      {},
      { content: {}, kept: ['retry'] },
    ],
    [
      'PU2 both, at different keys',
      { params: { x: 1, y: 1 } },
      { params: { x: 1, y: 2 } },
      { params: { x: 2, y: 1 } },
      { content: { params: { x: 2, y: 2 } }, kept: ['params.x'] },
    ],
    [
      'PU3 nothing, at the same key',
      { retry: 1 },
      { retry: 2 },
      { retry: 3 },
      { conflict: ['retry'] },
    ],
    [
      'PU3 both in the same way',
      { retry: 1 },
      { retry: 2 },
      { retry: 2 },
      { content: { retry: 2 }, kept: [] },
    ],
    [
      'PU3 nothing, where both together are not valid',
      {},
      { needs: ['gpu'], timeout: 5 },
      { timeout: -1 },
      { conflict: ['timeout'] },
    ],
    [
      'PU4 the file, without a record',
      undefined,
      { retry: 2 },
      { retry: 3, timeout: 5 },
      { content: { retry: 2 }, kept: [] },
    ],
    [
      'PU5 that it is current',
      { current: true },
      { current: true },
      { current_since: 5 },
      { content: { current: true }, kept: [] },
    ],
    [
      'PU7 a secret of the file',
      clear(null),
      clear('new'),
      clear('old'),
      { content: clear('new'), kept: [] },
    ],
    [
      'PU7 an encrypted secret of the database',
      clear(null),
      clear('old'),
      clear({ $encrypted: 'x' }),
      { conflict: ['params.smtp.pass'] },
    ],
    [
      'PU7 an encrypted secret of the file',
      { ...clear(null), needs: ['a', { pass: null }] },
      { ...clear({ $encrypted: 'x' }), needs: ['a', { pass: 'y' }] },
      { ...clear('old'), needs: ['a', { pass: 'x' }] },
      { content: { ...clear({ $encrypted: 'x' }), needs: ['a', { pass: 'y' }] }, kept: [] },
    ],
    [
      'what operators have not switched by its file',
      {},
      {},
      { enabled: false },
      { content: {}, kept: [] },
    ],
    [
      'PU6 a switch that its file says for the first time',
      {},
      { paused: false },
      { paused: true },
      { content: { paused: false }, kept: [] },
    ],
    [
      'a switch that its file says and an operator has switched',
      { enabled: true },
      { enabled: true },
      { enabled: false },
      { content: { enabled: false }, kept: ['enabled'] },
    ],
  ])('%s', (_title, agreed, ours, theirs, expected) => {
    const merged = merge(agreed, ours, theirs);
    expect(merged).toEqual(expected);
  });

  it('says which keys are in conflict, and the way out', () => {
    const sides = { file, agreed: named, stored: { _id: 't', _rev: '1-a', ...named, retry: 1 } };
    expect(mergeForPush({ ...sides, doc: { ...named, retry: 2 } })).toMatchObject({
      file: 'a.json',
      message:
        'retry changed in the file and in the database since they last agreed; `tws pull --theirs` takes what the database has, `tws push --force` stores what the file has.',
    });
  });
});

describe('what a push makes of a document or a file that is gone', () => {
  const agreed = { ...named, params: { smtp: { pass: null } } };
  const stored = { _id: 't', _rev: '2-a', ...named };

  it.each<[string, Json | undefined, Json, Json | undefined]>([
    ['PU4 stores it, without a record', undefined, {}, undefined],
    ['PU8 leaves it removed', agreed, clear('x'), { because: expect.stringMatching(/^removed/) }],
    [
      'PU5 leaves it removed, whichever version was current',
      agreed,
      { ...clear('x'), current: true },
      { because: expect.stringMatching(/^removed/) },
    ],
    ['PU9 is a conflict', agreed, { retry: 1 }, expect.objectContaining({ keys: [] })],
  ])('%s', (_title, before, ours, expected) => {
    expect(leftRemoved(file, { _id: 't', ...named, ...ours }, before)).toEqual(expected);
  });

  it.each<[string, Json | undefined, Json, readonly string[] | undefined]>([
    ['PU10 removes what has not changed', agreed, clear('x'), undefined],
    [
      'PU10 removes what operators have switched',
      agreed,
      { ...clear('x'), paused: true },
      undefined,
    ],
    [
      'PU5 removes what is not the current version any more',
      { ...agreed, current: true },
      clear('x'),
      undefined,
    ],
    ['PU10 keeps what has changed', agreed, { ...clear('x'), retry: 1 }, ['retry']],
    ['PU4 removes what it knows nothing of', undefined, { retry: 1 }, undefined],
  ])('%s', (_title, content, theirs, keys) => {
    const before = content && { file: 'a.json', content };
    expect(keptFromPrune({ ...stored, ...theirs }, before)?.keys).toEqual(keys);
  });
});
