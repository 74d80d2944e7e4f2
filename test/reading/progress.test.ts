import { describe, expect, it } from 'vitest';
import { interpret, progressAt } from '../../src/reading/progress.js';
import { toTree } from '../../src/structures/to-tree.js';
import { childrenOf } from '../../src/structures/tree.js';
import type { WrittenNode } from '../../src/structures/kind.js';
import { flow, liveJob } from '../support/builders.js';
import { begun, endings, story } from '../decide/story.js';

describe('interpret', () => {
  it('says where a tree stands, from the root that is given', () => {
    const job = liveJob(flow(['a'], { cancel: { sequence: ['u', ['v']] } }));
    const cancel = job.flow_definition.cancel ?? job.tasks;
    expect(interpret(job, job.tasks, 'main')).toMatchObject({
      kind: 'open',
      begin: [{ phase: 'main', leaf: { path: '0', label: 'a-0' } }],
    });
    expect(interpret(job, cancel, 'cancel', 'cancel')).toMatchObject({
      kind: 'open',
      begin: [{ phase: 'cancel', leaf: { path: 'cancel.sequence.0', label: 'u-0' } }],
    });
    expect(interpret(job, toTree([]), 'main')).toMatchObject({
      kind: 'done',
    });
  });

  it('says how far one node is, of the flow or of its cancel branch', () => {
    const told = begun(['a', { parallel: ['b', 'c'] }], { flow: { cancel: { sequence: ['u'] } } });
    const job = told.did('a').did('b').liveJob;
    const [a, group] = childrenOf(job.tasks, '').map(({ node }) => node);
    expect(progressAt(job, a ?? job.tasks, '0').kind).toBe('done');
    expect(progressAt(job, group ?? job.tasks, '1').kind).toBe('open');
    const { cancel = job.tasks } = job.flow_definition;
    expect(progressAt(job, cancel, 'cancel')).toMatchObject({
      begin: [{ leaf: { path: 'cancel.sequence.0' } }],
    });
  });
});

/** Every kind of structure around one entry, with the path of the entry in it. */
const around: readonly [string, (node: string) => Record<string, unknown>, string][] = [
  ['sequence', (node) => ({ sequence: [node] }), 'sequence.0'],
  ['parallel', (node) => ({ parallel: [node] }), 'parallel.0'],
  ['batch', (node) => ({ batch: [node], on_complete: 'cb' }), 'batch.0'],
  ['graph', (node) => ({ graph: { n: node } }), 'graph.n'],
  ['choice', (node) => ({ choice: [{ when: 'x', then: node }] }), 'choice.0'],
  ['map', (node) => ({ map: { over: [1], do: node } }), 'map.0'],
  ['loop', (node) => ({ loop: { max: 1, do: node } }), 'loop.0'],
];

describe.each(around)('a %s', (kind, wrap, at) => {
  const node = (more: object): WrittenNode => ({ ...wrap('a'), ...more });
  const chosen = { '0.choice[0].when': true };

  it('is begun when its conditions hold', () => {
    const told = story({ steps: [node({ when: 'w', guards: ['g', 'h'] }), 'd'] });
    const asked = { '0.when': true, '0.guards[0]': 1, '0.guards[1]': 'x' };
    told.answering({ ...asked, ...chosen }).go();
    expect(told.open).toEqual([`0.${at}`]);
    expect(told.steps[0]).toMatchObject({
      index: 0,
      path: '0',
      name: kind,
      task: kind,
      structure: kind,
      attempt: 1,
      run: 1,
      phase: 'main',
      state: '$$complete',
      exit: 0,
    });
  });

  it.each([
    ['when', { when: 'w', guards: 'g' }, { '0.when': 0, '0.guards[0]': true }],
    ['a guard', { when: 'w', guards: 'g' }, { '0.when': true, '0.guards[0]': '' }],
  ])('is skipped as a whole when %s does not hold', (_title, more, answers) => {
    const told = story({ steps: [node({ ...more, name: 'part' }), 'd'] });
    told.answering({ ...answers, ...chosen }).go();
    expect(told.trail).toEqual([`${kind}#1 $$skipped`, 'd#1 $$active']);
    expect(told.steps[0]).toMatchObject({ name: 'part', exit: 0 });
  });

  it('fails with exit 3 when a condition cannot be evaluated', () => {
    const told = story({
      steps: [node({ when: 'w' }), 'd'],
      world: {
        answers: {
          '0.when': { ok: false, reason: 'no' },
          '0.choice[0].when': { ok: true, value: true },
        },
      },
    });
    told.go();
    expect(told.ending).toEqual({ state: '$$complete', exit: 3, failure: 'ExpressionError' });
  });

  it('goes on after a condition that cannot be evaluated when it is optional', () => {
    const told = story({
      steps: [node({ when: 'w', optional: true }), 'd'],
      world: {
        answers: {
          '0.when': { ok: false, reason: 'no' },
          '0.choice[0].when': { ok: true, value: true },
        },
      },
    });
    told.go();
    expect(told.running).toEqual(['d']);
  });

  it('fails with what is in it, or counts as done when it is optional', () => {
    const failing = story({ steps: [node({}), 'd'] }).answering(chosen);
    failing.go();
    failing.broke('a');
    if (kind === 'batch') failing.did('cb');
    expect(failing.ending).toEqual(endings.badly);
    const fine = story({ steps: [node({ optional: true }), 'd'] }).answering(chosen);
    fine.go();
    fine.broke('a');
    if (kind === 'batch') fine.did('cb');
    expect(fine.running).toEqual(['d']);
  });

  it('that is optional and failed is left alone in a further run of the flow', () => {
    const told = story({ steps: [node({ optional: true }), 'd'], flow: { retry: 1 } });
    told.answering(chosen).go();
    told.broke('a');
    if (kind === 'batch') told.did('cb');
    expect(told.broke('d').running).toEqual(['d']);
    expect(told.did('d').ending).toEqual(endings.well);
  });

  it('begins anew what failed in it in a further run of the flow', () => {
    const told = story({ steps: [node({}), 'd'], flow: { retry: 1 } }).answering(chosen);
    told.go();
    told.broke('a');
    if (kind === 'batch') told.did('cb');
    expect(told.open).toEqual([`0.${at}`]);
    expect(told.did('a').running).toEqual(['d']);
  });

  it('gives a name to its result', () => {
    const after = { task: 'd', params: { x: '{{results.part}}' } };
    const told = story({ steps: [node({ name: 'part' }), after] }).answering(chosen);
    told.go();
    told.did('a', 'r');
    if (kind === 'batch') told.did('cb', 'called');
    const value = { parallel: { 0: 'r' }, batch: { 0: 'r' }, graph: { n: 'r' }, map: ['r'] };
    expect(told.live.params).toEqual({ x: (value as Record<string, unknown>)[kind] ?? 'r' });
  });
});

describe('structures of all kinds in each other', () => {
  // Shows F-08.
  it('run twelve deep, to a good end', () => {
    const nest = (depth: number): WrittenNode => {
      const [, wrap] = around[depth % around.length] as (typeof around)[number];
      return depth === 0 ? 'a' : wrap(nest(depth - 1) as string);
    };
    const told = story({ steps: [nest(12), 'd'] });
    for (let intent = told.decide(); intent.kind === 'look_up'; intent = told.decide()) {
      told.answering(Object.fromEntries(intent.questions.map(({ id }) => [id, true])));
    }
    told.go();
    expect(told.running).toEqual(['a']);
    told.did('a');
    while (told.running[0] === 'cb') told.did('cb');
    expect(told.did('d').ending).toEqual(endings.well);
  });
});

describe('what was done in an earlier run', () => {
  it('stays done, with what failed in it and was made up for', () => {
    const told = begun([{ parallel: ['a', 'b'], join: 'any' }, 'c'], { flow: { retry: 1 } });
    told.broke('a').did('b').broke('c');
    expect(told.running).toEqual(['c']);
    expect(told.did('c').ending).toEqual(endings.well);
  });

  // Shows F-09.
  it('stays done in what failed: only what failed begins anew', () => {
    const told = begun(
      [
        {
          parallel: [
            ['a', 'b'],
            ['x', 'y'],
          ],
        },
      ],
      { flow: { retry: 1 } },
    );
    told.did('a').broke('b').did('x').broke('y');
    expect(told.running).toEqual(['b', 'y']);
    expect(told.did('b').did('y').ending).toEqual(endings.well);
  });

  it('is begun anew where it was cancelled because of the failure', () => {
    const steps = [{ parallel: [['a', 'b'], 'c'], on_fail: 'cancel_rest' }];
    const told = begun(steps, { flow: { retry: 1 } })
      .did('a')
      .broke('c')
      .stopped();
    expect(told.running).toEqual(['b', 'c']);
    expect(told.did('b').did('c').ending).toEqual(endings.well);
  });

  it('is skipped still when its conditions did not hold', () => {
    const told = story({ steps: [{ sequence: ['a'], when: 'w' }, 'b'], flow: { retry: 1 } });
    told.answering({ '0.when': false }).go();
    told.answering({ '0.when': true }).broke('b');
    expect(told.running).toEqual(['b']);
  });

  it('is asked again where the answer was the failure', () => {
    const told = story({
      steps: [{ sequence: ['a'], when: 'w' }],
      flow: { retry: 1 },
      world: { answers: { '0.when': { ok: false, reason: 'no' } } },
    });
    told.go();
    expect(told.ending).toMatchObject({ exit: 3 });
    told.with({ answers: { '0.when': { ok: true, value: true } } });
    expect(told.ask('retry').running).toEqual(['a']);
  });
});
