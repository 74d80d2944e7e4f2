import { describe, expect, it } from 'vitest';
import { commitToMany, type JobWrite } from '../../../src/replicas/resolve/commit.js';
import type { WriteAnswer } from '../../../src/replicas/resolve/protocol.js';
import type { LeafRevision } from '../../../src/replicas/resolve/leaf-revisions.js';
import type { LiveStep } from '../../../src/model/step.js';
import { commitToOne } from '../../support/commit-to-one.js';
import { attempt, play, liveness, leaf, told } from './leaves.js';

const mine = attempt('1#1 $$active m') as LiveStep;
const before = leaf('3-a', ['0#1 $$active a']);
const claiming: JobWrite = { job: leaf('3-a', ['0#1 $$complete a', mine]), claims: [mine] };
const settling: JobWrite = { ...claiming, ended: ['a'] };
const ending: JobWrite = { job: leaf('3-a', ['0#1 $$complete a']), claims: [], ended: ['a'] };
const plain: JobWrite = { job: leaf('3-a', []), claims: [] };

const ready = leaf('4-a', ['0#1 $$complete a', '1#1 $$ready m']);
const active = leaf('5-a', ['0#1 $$complete a', mine]);
const ended = leaf('4-a', ['0#1 $$complete a']);
const nobody = liveness({ m: 'given_up' });
type Kinds = readonly WriteAnswer['kind'][];

describe('where every document has one copy, a change', () => {
  it.each<[string, JobWrite, Kinds, readonly LeafRevision[], string]>([
    ['is written when the store says so', claiming, ['written'], [], 'written'],
    ['is lost to a faster one', claiming, ['conflict'], [], 'lost'],
    ['is refused', claiming, ['refused'], [], 'refused'],
    ['is found again by its claims', claiming, ['unknown'], [active], 'written'],
    ['is found again by its end', ending, ['unknown'], [ended], 'written'],
    ['is lost without its claims', claiming, ['unknown'], [before], 'lost'],
    ['is lost without its end', ending, ['unknown'], [before], 'lost'],
    ['is lost with its document', claiming, ['unknown'], [], 'lost'],
    ['is lost when nothing tells it from others', plain, ['unknown'], [before], 'lost'],
  ])('%s', (_title, change, writes, leaves, kind) => {
    expect(play(commitToOne(change), [leaves], writes).result.kind).toBe(kind);
  });

  it('is lost when the engine ends', () => {
    expect(play(commitToOne(claiming), [undefined], ['unknown']).result.kind).toBe('lost');
  });

  it('has the revision that it was given', () => {
    const { result } = play(commitToOne(claiming), []);
    expect(result).toEqual({ kind: 'written', doc: { ...claiming.job, _rev: '51-new' } });
  });
});

/** What comes of a change on several copies: result, and what was written, in words. */
function many(
  change: JobWrite,
  looks: readonly (readonly LeafRevision[] | undefined)[],
  writes: Kinds = [],
) {
  const { result, writes: written } = play(commitToMany(change, nobody), looks, writes);
  return { result, kind: result.kind, written: written.map(told) };
}

describe('where every document has several copies, a claim', () => {
  it('C2, C3: is written twice and seen twice alone before it starts', () => {
    const { result, written } = many(claiming, [[before], [ready], [active]]);
    expect(result).toEqual({ kind: 'written', doc: active });
    expect(written).toEqual([told(ready), told(active)]);
  });

  it.each<[string, readonly LeafRevision[]]>([
    ['there are several leaves', [before, leaf('3-0', ['0#1 $$active z'])]],
    ['the job is another one by now', [leaf('4-a', [])]],
    ['the job is gone', []],
  ])('is not made when %s', (_title, leaves) => {
    const { kind, written } = many(claiming, [leaves]);
    expect(kind).toBe('lost');
    expect(written).toEqual([]);
  });

  it.each<[WriteAnswer['kind'], string]>([
    ['conflict', 'lost'],
    ['refused', 'refused'],
  ])('is lost when its first write is answered with %s', (write, kind) => {
    expect(many(claiming, [[before]], [write])).toMatchObject({ kind, written: [told(ready)] });
  });

  it('is written again as it is until a quorum has it', () => {
    const looks = [[before], [ready], [ready], [active], [active]];
    const { kind, written } = many(claiming, looks, ['unknown', 'written', 'unknown', 'written']);
    expect(kind).toBe('written');
    expect(written).toEqual([ready, ready, active, active].map(told));
  });

  it('is given up when it cannot be seen, without more', () => {
    const { kind, written } = many(claiming, [[before], [before]], ['unknown']);
    expect(kind).toBe('lost');
    expect(written).toHaveLength(1);
  });

  it('C1: waits until a losing leaf is dropped', () => {
    const rival = leaf('4-0', ['0#1 $$complete a', '1#1 $$ready z']);
    const { kind, written } = many(claiming, [[before], [ready, rival], [ready], [active]]);
    expect(kind).toBe('written');
    expect(written).toHaveLength(4);
  });

  it('waits while a losing leaf cannot be dropped', () => {
    const other = leaf('4-0', ['0#1 $$active a']);
    const looks = [[before], ...Array.from({ length: 4 }, () => [ready, other]), [ready], [active]];
    const failing: Kinds = ['written', 'unknown', 'unknown', 'unknown'];
    expect(many(claiming, looks, failing).kind).toBe('written');
  });

  const released = ['0#1 $$complete a', '1#1 $$cancelled m'];

  it.each<[string, readonly LeafRevision[], boolean]>([
    ['another leaf may run the step', [ready, leaf('4-0', ['1#1 $$active z'])], true],
    ['somebody has paused the job', [leaf('5-a', ready['steps'] as [], { paused: true })], true],
    ['an attempt follows it', [leaf('5-a', [...(ready['steps'] as []), '1#1 $$ready z'])], true],
    ['its leaf has lost', [leaf('5-b', ['0#1 $$complete a'])], false],
    ['the job is gone', [], false],
  ])('is given up when %s', (_title, leaves, isTakenBack) => {
    const { kind, written } = many(claiming, [[before], leaves, leaves, [ended]]);
    expect(kind).toBe('lost');
    expect(written.slice(1).some((steps) => steps.includes('1#1 $$cancelled m'))).toBe(isTakenBack);
  });

  it('is given up when another leaf may run the step and ours cannot be mended', () => {
    const leaves = [ready, leaf('4-0', ['1#1 $$active z'])];
    const unknown: Kinds = ['written', 'unknown', 'unknown', 'unknown'];
    const looks = [[before], ...Array.from({ length: 5 }, () => leaves), [ended]];
    expect(many(claiming, looks, unknown).kind).toBe('lost');
  });

  it('is taken back as one that has begun nothing', () => {
    const { writes } = play(
      commitToMany(claiming, nobody),
      [[before], [ready], [active], [active], [ended]],
      ['written', 'refused'],
    );
    expect(told(writes[2] as LeafRevision)).toEqual(released);
    expect((writes[2]?.['steps'] as unknown[])[1]).not.toHaveProperty('start');
  });

  it('of a job that is held already may start', () => {
    const held = (of: LeafRevision): LeafRevision => ({ ...of, cancel: true });
    const change = { ...claiming, job: held(claiming.job) };
    expect(many(change, [[before], [held(ready)], [held(active)]]).kind).toBe('written');
  });

  it('is given up after some looks, and taken back only so often', () => {
    const unknown = Array.from({ length: 20 }, () => 'unknown' as const);
    const { kind, written } = many(claiming, [[before], [ready]], unknown);
    expect(kind).toBe('lost');
    expect(written).toHaveLength(1 + 8 + 3);
  });

  it('is lost when the engine ends', () => {
    expect(many(claiming, [undefined]).kind).toBe('lost');
    expect(many(claiming, [[before], undefined]).kind).toBe('lost');
    expect(many(claiming, [[before], [ended], undefined]).kind).toBe('lost');
  });
});

describe('where every document has several copies, a change that has jobs made', () => {
  const waiting = attempt('1#1 $$waiting', { child: 'j:1:1', accepted: 5 });
  const begun = attempt('1#1 $$waiting', { child: 'j:1:1', accepted: 5, start: 5 });
  const change: JobWrite = {
    job: leaf('3-a', ['0#1 $$complete a', begun]),
    ...{ claims: [], spawns: ['j:1:1'], ended: ['a'] },
  };
  const unmade = leaf('4-a', ['0#1 $$complete a', waiting]);
  const made = leaf('5-a', ['0#1 $$complete a', begun]);
  /** Whether the step that waits for the job has begun, in all that was written. */
  const starts = (looks: readonly (readonly LeafRevision[] | undefined)[], writes: Kinds = []) => {
    const { result, writes: all } = play(commitToMany(change, nobody), looks, writes);
    const isBegun = ({ steps }: LeafRevision): boolean =>
      'start' in ((steps as object[]).at(-1) as object);
    return { result, kind: result.kind, written: all.map(isBegun) };
  };

  it('C2, C3: is written twice and seen twice alone before they are made', () => {
    const { result, written } = starts([[before], [unmade], [made]]);
    expect(result).toEqual({ kind: 'written', doc: made });
    expect(written).toEqual([false, true]);
  });

  it('waits while there is another leaf, and has none made when that wins', () => {
    const other = leaf('4-b', ['0#1 $$complete a', attempt('1#1 $$waiting', { child: 'x' })]);
    const failing: Kinds = ['written', 'unknown', 'unknown', 'unknown'];
    const looks = [[before], ...Array.from({ length: 4 }, () => [unmade, other]), [unmade], [made]];
    expect(starts(looks, failing).kind).toBe('written');
    expect(starts([[before], [other], [other]])).toMatchObject({
      kind: 'given_up',
      written: [false],
    });
  });

  it.each<[string, LeafRevision]>([
    ['somebody has paused the job', { ...unmade, paused: true }],
    ['the step does not wait any more', leaf('5-a', ['0#1 $$complete a'])],
    ['another engine has begun the job', { ...unmade, start: 1 }],
    [
      'another engine has begun the step',
      leaf('4-b', ['0#1 $$complete a', { ...waiting, accepted: 6 }]),
    ],
    ['another attempt follows', leaf('5-a', ['0#1 $$complete a', waiting, '1#2 $$ready z'])],
  ])('has none made when %s', (_title, seen) => {
    const { kind, written } = starts([[before], [seen]]);
    expect(kind).toBe('given_up');
    expect(written).toEqual([false]);
  });

  it('is written again as it is until a quorum has it', () => {
    const looks = [[before], [unmade], [unmade], [made], [made]];
    const { kind, written } = starts(looks, ['unknown', 'written', 'unknown', 'written']);
    expect(kind).toBe('written');
    expect(written).toEqual([false, false, true, true]);
  });

  it('C4: leaves begun what another engine has begun meanwhile, whose job may have been made', () => {
    const looks = [[before], [made], [made], [made]];
    const { kind, written } = starts(looks, ['unknown', 'written', 'written']);
    expect(kind).toBe('written');
    expect(written).toEqual([false, true, true]);
  });

  it('has a job made again that got lost, without taking the beginning back', () => {
    const again: JobWrite = { job: made, claims: [], spawns: ['j:1:1'] };
    const { result, writes } = play(commitToMany(again, nobody), [[made]]);
    expect(result.kind).toBe('written');
    expect(writes.map(({ steps }) => (steps as readonly unknown[]).at(-1))).toEqual([begun, begun]);
  });

  it('begins a step that another engine has left when it was accepted, else with the job', () => {
    const startOf = (left: LeafRevision): unknown => {
      const again: JobWrite = { job: left, claims: [], spawns: ['j:1:1'] };
      const { writes } = play(commitToMany(again, nobody), [[left], [left], [made]]);
      return (writes[1]?.['steps'] as readonly { readonly start?: unknown }[]).at(-1)?.start;
    };
    const { accepted: _accepted, ...bare } = waiting as typeof waiting & { accepted: unknown };
    expect(startOf(unmade)).toBe(5);
    expect(startOf(leaf('4-a', [bare as typeof waiting], { start: 2 }))).toBe(2);
  });
});

describe('where every document has several copies, an end', () => {
  it('is stored by one write that a quorum has', () => {
    const { result, written } = many(ending, [[before]]);
    expect(result).toMatchObject({ kind: 'written', doc: { _rev: '51-new' } });
    expect(written).toHaveLength(1);
  });

  it('C1: is written on the winner of several leaves, when it begins nothing', () => {
    const rival = leaf('3-0', ['0#1 $$active z']);
    expect(many(ending, [[before, rival]]).kind).toBe('written');
    expect(many(settling, [[before, rival]]).kind).toBe('lost');
    expect(many(plain, [[before, rival]]).kind).toBe('lost');
  });

  it('is written again until a quorum has it', () => {
    const { result, written } = many(
      ending,
      [[before], [ended]],
      ['unknown', 'unknown', 'written'],
    );
    expect(result).toEqual({ kind: 'written', doc: ended });
    expect(written).toHaveLength(3);
  });

  it('C5: is not known to be stored when that does not come about', () => {
    const unknown = Array.from({ length: 9 }, () => 'unknown' as const);
    expect(many(ending, [[before], [ended]], unknown).kind).toBe('lost');
    expect(many(ending, [[before], [before]], unknown).kind).toBe('lost');
  });

  it('stays when the claim that was written with it is given up', () => {
    const { result } = many(settling, [[before], [ended]]);
    expect(result).toEqual({ kind: 'given_up', doc: ended });
    expect(many(settling, [[before], [before]]).kind).toBe('lost');
  });

  it('is stored as it is when its job has no steps', () => {
    const { steps: _steps, ...job } = leaf('3-a', []) as LeafRevision & { readonly steps: unknown };
    const { result } = many({ job, claims: [] }, [[job]]);
    expect(result).toEqual({ kind: 'written', doc: { ...job, _rev: '51-new' } });
  });

  it('is not known without a quorum, as nothing else is', () => {
    expect(many(plain, [[before], [ended]], ['unknown'])).toMatchObject({
      kind: 'lost',
      written: [[]],
    });
  });
});
