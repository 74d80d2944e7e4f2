import type { UncancelledChild } from '../../../src/decide/finish/abandoned.js';
import type {
  EffectAnswer,
  Effect,
  Protocol,
  WriteAnswer,
} from '../../../src/replicas/resolve/protocol.js';
import type { LivenessOf, Liveness } from '../../../src/replicas/resolve/attempt-merge.js';
import type { LeafRevision } from '../../../src/replicas/resolve/leaf-revisions.js';
import type { LiveStep, Step } from '../../../src/model/step.js';
import { frozen } from '../../support/builders.js';

/** One attempt: `0#1 $$active a` is the first one at path 0, with claim a of engine a. */
export function attempt(text: string, more: Record<string, unknown> = {}): Step {
  const [place = '', state = '', claim] = text.split(' ');
  const [path = '', number] = place.split('#');
  const index = Number.parseInt(path, 10);
  const ends = { end: 9, exit: 0 };
  const failure = { failure: { name: 'Broken', message: 'It is broken.' }, exit: 2 };
  const isEnded = !['$$ready', '$$active', '$$waiting'].includes(state);
  const isFailed = ['$$error', '$$timeout', '$$cancelled'].includes(state);
  return {
    ...{ index, path, name: `s${path}`, task: `t${path}`, phase: 'main', run: 1, state },
    attempt: Number(number),
    ...(claim === undefined ? {} : { claim, engine: claim, pid: 1, plugin: 'p', params: {} }),
    ...(claim === undefined ? {} : { accepted: 5 }),
    ...(claim === undefined || state === '$$ready' ? {} : { start: 5 }),
    ...(isEnded ? ends : {}),
    ...(isFailed ? failure : {}),
    ...more,
  } as unknown as Step;
}

/** How an attempt is called that somebody took away or handed back. */
export const called = (name: string) => ({ failure: { name, message: name }, due: 9 });

/** A live job with these attempts, at this revision. */
export function leaf(rev: string, steps: readonly (string | Step)[], more = {}): LeafRevision {
  const listed = steps.map((step) => (typeof step === 'string' ? attempt(step) : step));
  const job = { _id: 'j', _rev: rev, type: 'job', state: 't0-0', run: 1, steps: listed };
  return frozen({ ...job, ...more });
}

/** The attempts of a job in a few words each: `0#1 $$active a`. */
export function told({ steps }: LeafRevision): readonly string[] {
  return ((steps ?? []) as readonly Step[]).map(({ path, attempt: number, state, claim }) => {
    const place = `${path}#${number} ${state}`;
    return typeof claim === 'string' ? `${place} ${claim}` : place;
  });
}

/** How running attempts stand, by claim; those that are not named run elsewhere. */
export function liveness(of: Readonly<Record<string, Liveness>>): LivenessOf {
  return ({ claim }: LiveStep) => of[claim] ?? 'elsewhere';
}

/** What came of a protocol, and what it wrote on the way. */
export type Play<T> = {
  readonly result: T;
  readonly writes: readonly LeafRevision[];
  /** Children that were asked to cancel. */
  readonly abandoned: readonly string[];
  readonly rests: number;
  readonly looks: number;
};

/**
 * Drives a protocol: its looks and writes are answered in their order; the last look is the answer
 * to all further ones, and what nobody answers is written as the next revision. `untold`: the children
 * that cannot be cancelled when they are given up.
 */
export function play<T>(
  protocol: Protocol<T>,
  looks: readonly (readonly LeafRevision[] | undefined)[],
  writes: readonly WriteAnswer['kind'][] = [],
  untold?: readonly UncancelledChild[],
): Play<T> {
  const written: LeafRevision[] = [];
  const abandoned: string[] = [];
  let [looked, rests] = [0, 0];
  const answer = (effect: Effect): EffectAnswer => {
    switch (effect.kind) {
      case 'rest':
        rests += 1;
        return undefined;
      case 'abandon':
        abandoned.push(...effect.children.map(({ child }) => child));
        return untold;
      case 'look':
        looked += 1;
        return looks[Math.min(looked, looks.length) - 1];
      case 'write':
        written.push(effect.doc as LeafRevision);
        return stored(writes[written.length - 1] ?? 'written', `${written.length + 50}-new`);
    }
  };
  for (let step = protocol.next(); ;) {
    if (step.done === true) {
      return { result: step.value, writes: written, abandoned, rests, looks: looked };
    }
    if (looked > 100) throw new Error('It looks for ever.');
    step = protocol.next(answer(step.value));
  }
}

function stored(kind: WriteAnswer['kind'], rev: string): WriteAnswer {
  switch (kind) {
    case 'written':
      return { kind, rev };
    case 'conflict':
      return { kind };
    case 'refused':
      return { kind, reason: 'no' };
    case 'unknown':
      return { kind, cause: '202' };
  }
}
