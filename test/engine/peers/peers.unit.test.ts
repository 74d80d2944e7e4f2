import { describe, expect, it } from 'vitest';
import { usualLeaseMs } from '../../../src/model/engine.js';
import { createPeers } from '../../../src/engine/peers/peers.js';
import type { EngineDocument } from '../../../src/model/engine.js';

const doc = (beat: number, more: Partial<EngineDocument> = {}): EngineDocument => ({
  _id: 'engine:b',
  type: 'engine',
  host: 'h',
  pid: 1,
  version: '0',
  plugins: ['noop'],
  labels: [],
  slots: 1,
  started: 0,
  beat,
  state: 'running',
  ...more,
});

/** Peers with a clock that the test moves by hand (ms), with or without beats of their own engine. */
function withClock() {
  let time = 0;
  const peers = createPeers('engine:a', 1_000, () => time);
  const blind = (ms: number): void => void (time += ms);
  const after = (ms: number): void => {
    for (const end = time + ms; time < end;) {
      time = Math.min(end, time + 300);
      peers.update('engine:a', doc(time, { _id: 'engine:a' }));
    }
  };
  return { peers, after, blind };
}

describe('the lease of another engine', () => {
  it('P1: is alive while its document moves, whatever its clock says', () => {
    const { peers, after } = withClock();
    for (let beat = 1; beat < 5; beat += 1) {
      peers.update('engine:b', doc(beat, { started: 9e15 }));
      after(900);
      expect(peers.lease('engine:b')).toBe('alive');
    }
  });

  it('is over when the document stood still for longer than the lease', () => {
    const { peers, after } = withClock();
    peers.update('engine:b', doc(1));
    after(600);
    peers.update('engine:b', doc(1));
    after(600);
    expect(peers.lease('engine:b')).toBe('dead');
    expect(peers.died()).toEqual(['engine:b']);
    expect(peers.died()).toEqual([]);
  });

  it('lives again when the document moves again', () => {
    const { peers, after } = withClock();
    peers.update('engine:b', doc(1));
    after(2_000);
    expect(peers.died()).toEqual(['engine:b']);
    peers.update('engine:b', doc(2));
    expect(peers.lease('engine:b')).toBe('alive');
    after(2_000);
    expect(peers.died()).toEqual(['engine:b']);
  });

  it('P1: is alive while its document has new revisions, read or not, unless it is gone', () => {
    const { peers, after } = withClock();
    peers.update('engine:b', doc(1));
    for (let n = 0; n < 5; n += 1) {
      after(900);
      peers.moved('engine:b', `${n}-x`);
      expect(peers.lease('engine:b')).toBe('alive');
    }
    after(2_000);
    expect(peers.died()).toEqual(['engine:b']);
    peers.moved('engine:b', '6-x');
    expect(peers.lease('engine:b')).toBe('alive');
    peers.update('engine:b', undefined);
    peers.moved('engine:b', '7-x');
    expect(peers.lease('engine:b')).toBe('dead');
  });

  it('P4: is not read at a renewal that was due, but at any other line, and now and then', () => {
    const { peers, after } = withClock();
    expect(peers.moved('engine:b', '1-x')).toBe(true);
    let writes = 1;
    const move = (ms: number, reads: boolean): boolean => {
      after(ms);
      const isRead = peers.moved('engine:b', `${(writes += 1)}-x`);
      const read = { ...doc(writes, { renew_ms: 300 }), _rev: `${writes}-x` };
      if (reads && isRead) peers.update('engine:b', read);
      return isRead;
    };
    expect([move(300, true), move(300, true)]).toEqual([true, false]);
    expect([move(100, true), move(300, true)]).toEqual([true, false]);
    expect([move(900, true), move(250, true), move(350, true)]).toEqual([true, false, false]);
    const reads = Array.from({ length: 40 }, () => move(300, true));
    expect(reads.filter(Boolean)).toHaveLength(3);
  });

  it('P4: has not moved when a renewal is read whose line was seen', () => {
    const { peers, after } = withClock();
    const read = (writes: number) => ({ ...doc(writes), _rev: `${writes}-x` });
    peers.update('engine:b', read(1));
    after(300);
    peers.moved('engine:b', '2-x');
    after(900);
    peers.update('engine:b', read(2));
    after(300);
    expect(peers.lease('engine:b')).toBe('dead');
    peers.update('engine:b', read(3));
    expect(peers.lease('engine:b')).toBe('alive');
  });

  it('gives the same list of the living until it changes', () => {
    const { peers, after } = withClock();
    peers.update('engine:b', doc(1, { renew_ms: 300 }));
    const before = peers.alive;
    expect(peers.alive).toBe(before);
    peers.moved('engine:b', '2-x');
    expect(peers.alive).toBe(before);
    after(2_000);
    expect(peers.alive).toEqual([]);
    peers.moved('engine:b', '3-x');
    expect(peers.alive.map(({ id }) => id)).toEqual(['engine:b']);
  });

  it('is over at once when the engine stopped or its document is gone', () => {
    const { peers } = withClock();
    peers.update('engine:b', doc(1));
    peers.update('engine:b', doc(2, { state: 'stopped' }));
    expect(peers.lease('engine:b')).toBe('dead');
    peers.update('engine:c', undefined);
    expect(peers.lease('engine:c')).toBe('dead');
  });

  it('P3: is granted once to an engine nobody has heard of', () => {
    const { peers, after } = withClock();
    expect(peers.lease('engine:x')).toBe('alive');
    after(1_001);
    expect(peers.lease('engine:x')).toBe('dead');
    expect(peers.died()).toEqual(['engine:x']);
  });

  it('P3: is granted to another process of a dead engine: its claim may come before its document', () => {
    const { peers, after } = withClock();
    peers.update('engine:b', doc(1, { pid: 1 }));
    after(1_200);
    expect([peers.lease('engine:b', 1), peers.lease('engine:b', 2)]).toEqual(['dead', 'alive']);
    expect(peers.died()).toEqual(['engine:b']);
    peers.update('engine:b', undefined);
    expect([peers.lease('engine:b', 1), peers.lease('engine:b', 2)]).toEqual(['dead', 'alive']);
    expect(peers.died()).toEqual([]);
    after(1_200);
    expect(peers.lease('engine:b', 2)).toBe('dead');
    expect(peers.died()).toEqual(['engine:b']);
    expect([peers.lost(), peers.alive]).toEqual([[], []]);
    peers.update('engine:b', doc(1, { pid: 2 }));
    expect(peers.lease('engine:b', 2)).toBe('alive');
  });

  it('P2: does not run on while nothing could be seen', () => {
    const { peers, after, blind } = withClock();
    peers.update('engine:b', doc(1));
    after(900);
    blind(5_000);
    expect(peers.lease('engine:b')).toBe('alive');
    after(900);
    expect(peers.lease('engine:b')).toBe('alive');
    expect(peers.died()).toEqual([]);
    after(600);
    expect(peers.died()).toEqual(['engine:b']);
  });

  it('does not run on while the feed was away, however short a break was', () => {
    for (const awayMs of [100, 300, 500, 650]) {
      const { peers, after, blind } = withClock();
      peers.update('engine:b', doc(1));
      // Its next renewal is about to come when the feed breaks.
      after(345);
      blind(awayMs);
      // Of what the feed brings afterwards our own document may come first.
      after(10);
      expect(peers.died()).toEqual([]);
      peers.update('engine:b', doc(2));
      after(900);
      expect(peers.died()).toEqual([]);
    }
  });

  it('ends although our own document is always seen too late to count', () => {
    const { peers, after, blind } = withClock();
    peers.update('engine:b', doc(1));
    let beats = 0;
    for (; beats < 20 && peers.lease('engine:b') === 'alive'; beats += 1) {
      blind(900);
      after(10);
    }
    expect(peers.died()).toEqual(['engine:b']);
    expect(beats).toBeLessThan(7);
  });

  it('does not end for an engine that is seen to move in between, however late we see ourselves', () => {
    const { peers, after, blind } = withClock();
    for (let beat = 1; beat < 40; beat += 1) {
      if (beat % 2 === 1) peers.update('engine:b', doc(beat));
      blind(900);
      after(10);
      expect(peers.died()).toEqual([]);
    }
  });

  it('ends although our own document is always seen late', () => {
    const { peers, after, blind } = withClock();
    peers.update('engine:b', doc(1));
    for (let beats = 0; beats < 4; beats += 1) {
      blind(590);
      after(10);
    }
    expect(peers.died()).toEqual(['engine:b']);
  });
});

describe('an engine whose document was removed', () => {
  it('has a whole lease again after a blindness: it may have come back unseen', () => {
    const { peers, after, blind } = withClock();
    peers.update('engine:b', doc(1));
    peers.update('engine:b', undefined);
    expect(peers.died()).toEqual(['engine:b']);
    blind(2_000);
    after(10);
    expect(peers.lease('engine:b')).toBe('alive');
    expect(peers.alive).toEqual([]);
    after(1_200);
    expect(peers.lease('engine:b')).toBe('dead');
    // Jobs may have been put aside for it meanwhile.
    expect(peers.died()).toEqual(['engine:b']);
  });
});

describe('the engines that take work', () => {
  it('are the others that run; draining ones are left out', () => {
    const { peers } = withClock();
    peers.update('engine:a', doc(1, { _id: 'engine:a' }));
    peers.update('engine:b', doc(1));
    peers.update('engine:c', doc(1, { _id: 'engine:c', state: 'draining' }));
    peers.update('engine:d', doc(1, { _id: 'engine:d', queues: ['x', 'y'] }));
    expect(peers.alive).toEqual([
      {
        id: 'engine:b',
        plugins: new Set(['noop']),
        labels: new Set(),
        queues: new Set(['default']),
      },
      {
        id: 'engine:d',
        plugins: new Set(['noop']),
        labels: new Set(),
        queues: new Set(['x', 'y']),
      },
    ]);
  });
});

describe('a dead engine', () => {
  // Shows J-03.
  it('is found out within 15 s by default, whenever it died', () => {
    const renewMs = usualLeaseMs / 3;
    for (const shift of [0.01, 0.5, 0.99]) {
      let time = 0;
      const peers = createPeers('engine:a', usualLeaseMs, () => time);
      peers.update('engine:b', doc(1));
      for (let beat = 0; time < 30_000; beat += 1) {
        time = (beat + shift) * renewMs;
        peers.update('engine:a', doc(beat, { _id: 'engine:a' }));
        if (peers.lease('engine:b') === 'dead') break;
      }
      expect(time).toBeLessThan(14_000);
    }
  });

  it('is forgotten long after its end was told', () => {
    const { peers, after } = withClock();
    peers.update('engine:b', doc(1));
    peers.update('engine:b', undefined);
    expect(peers.died()).toEqual(['engine:b']);
    expect(peers.lease('engine:b')).toBe('dead');
    after(25_000);
    expect(peers.died()).toEqual([]);
    expect(peers.lease('engine:b')).toBe('alive');
  });
});
