import { describe, expect, it } from 'vitest';
import { createPulse } from '../../src/client/pulse.js';
import type { EngineDocument } from '../../src/model/engine.js';

const at = 1_000_000;

function engine(beat: number, renewed: number, more: object = {}): EngineDocument {
  const facts = { host: 'h', pid: 1, version: '0', plugins: [], labels: [], slots: 1, started: 0 };
  return { _id: 'engine:e', type: 'engine', ...facts, beat, renewed, state: 'running', ...more };
}

const alive = (seen: readonly { readonly alive: boolean }[]): boolean | undefined => seen[0]?.alive;

describe('a pulse', () => {
  it('believes the time of the last renewal at first', () => {
    expect(alive(createPulse().look([engine(1, at - 1_000)], at))).toBe(true);
    expect(alive(createPulse().look([engine(1, at - 60_000)], at))).toBe(false);
  });

  it('believes a moving beat whatever the clock of the engine says', () => {
    const pulse = createPulse();
    const behind = at - 3_600_000;
    expect(alive(pulse.look([engine(1, behind)], at))).toBe(false);
    expect(pulse.settled([engine(1, behind)], at)).toBe(false);
    expect(alive(pulse.look([engine(2, behind + 5_000)], at + 5_000))).toBe(true);
    expect(pulse.settled([engine(2, behind + 5_000)], at + 5_000)).toBe(true);
  });

  it('does not believe a clock that is ahead for longer than a lease', () => {
    const pulse = createPulse();
    const ahead = engine(1, at + 3_600_000);
    expect(alive(pulse.look([ahead], at))).toBe(true);
    expect(alive(pulse.look([ahead], at + 15_000))).toBe(false);
    expect(pulse.settled([ahead], at + 15_000)).toBe(true);
  });

  it('loses an engine that moved and moves no more', () => {
    const pulse = createPulse(3_000);
    pulse.look([engine(1, at)], at);
    expect(alive(pulse.look([engine(2, at)], at + 1_000))).toBe(true);
    expect(alive(pulse.look([engine(2, at)], at + 4_000))).toBe(true);
    expect(alive(pulse.look([engine(2, at)], at + 4_001))).toBe(false);
  });

  it('takes the word of an engine that has stopped', () => {
    const stopped = [engine(1, at, { state: 'stopped' })];
    const pulse = createPulse();
    expect(alive(pulse.look(stopped, at))).toBe(false);
    expect(pulse.settled(stopped, at)).toBe(true);
  });
});
