import { expect, it } from 'vitest';
import { decide } from '../../src/decide/decide.js';
import { unknownWorld, type World } from '../../src/decide/world.js';
import { flow, liveJob, t0 } from '../support/builders.js';

const asked: readonly (readonly [keyof World, (world: World) => unknown])[] = [
  ['flow', ({ flow: find }) => find('f', 'DEFAULT')],
  ['task', ({ task: find }) => find('t', 'DEFAULT')],
  ['child', ({ child }) => child('c')],
  ['subject', ({ subject }) => subject('j')],
  ['event', ({ event }) => event('type', 'key')],
  ['lock', ({ lock }) => lock('l')],
  ['blockers', ({ blockers }) => blockers('target')],
  ['permit', ({ permit }) => permit('key')],
];

it.each(asked)('knows no %s', (_name, ask) => {
  expect(ask(unknownWorld)).toEqual({ kind: 'unknown' });
});

it('has no engine, and none that does anything', () => {
  const { me, peers, lease, root, linkOf, notifyLists } = unknownWorld;
  expect([peers, notifyLists('me'), lease('engine:1'), root('j'), linkOf('j')]).toEqual([
    [],
    [],
    'dead',
    'unknown',
    undefined,
  ]);
  expect([me.freeSlots, me.share(1), me.runningOf('t::DEFAULT'), me.facts('p')]).toEqual([
    0,
    1,
    0,
    { templates: [] },
  ]);
});

it('leaves texts and parameters as they are, and lets them suit', () => {
  const { lockId, render, schema } = unknownWorld;
  const context = { job: {}, step: {}, params: {}, results: {}, parent_results: {} };
  const params = { to: '{{params.to}}' };
  expect(lockId('a text')).toBe('a text');
  expect(render(params, context, [])).toEqual({ ok: true, value: params });
  const suits = schema({ type: 'object' });
  expect(suits.ok && suits.problemsOf(params)).toEqual([]);
});

it('starts nothing there', () => {
  const { kind } = decide(liveJob(flow([{ task: 't' }])), t0, unknownWorld);
  expect(kind).toBe('wait');
});
