import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { JobChanges } from '../../src/pages/live/batch.js';

type Following = {
  readonly onBatch: (batch: JobChanges) => void;
  readonly onMissed: () => void;
  readonly signal: AbortSignal;
};
/** Not imported by name: what it imports is compiled for browsers. */
const { followJobs } = await vi.importActual<{ followJobs: (one: Following) => void }>(
  '../../src/pages/live/changes.js',
);

/** Stands in for the stream of the browser; tests send events themselves. */
class Stream extends EventTarget {
  static readonly CLOSED = 2;
  static all: Stream[] = [];
  readyState = 1;

  constructor() {
    super();
    Stream.all.push(this);
  }

  close(): void {
    this.readyState = Stream.CLOSED;
  }

  job(id: string): void {
    this.dispatchEvent(new MessageEvent('job', { data: JSON.stringify({ id }) }));
  }
}

const page = Object.assign(new EventTarget(), { hidden: false });
const open = (): readonly Stream[] => Stream.all.filter(({ readyState }) => readyState === 1);

function show(isShown: boolean): void {
  page.hidden = !isShown;
  page.dispatchEvent(new Event('visibilitychange'));
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('EventSource', Stream);
  vi.stubGlobal('document', page);
  vi.stubGlobal('location', new URL('http://127.0.0.1/'));
  page.hidden = false;
  Stream.all = [];
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('the changes that a page follows', () => {
  function follow() {
    const batches: JobChanges[] = [];
    let missed = 0;
    const end = new AbortController();
    followJobs({
      onBatch: (batch) => batches.push(batch),
      onMissed: () => void (missed += 1),
      signal: end.signal,
    });
    return { batches, missed: () => missed, end };
  }

  it('Y1: come in at most four batches a second, with the newest of each job', () => {
    const { batches, end } = follow();
    for (let ms = 0; ms < 1_000; ms += 1) {
      open()[0]?.job(`j${ms % 7}`);
      vi.advanceTimersByTime(1);
    }
    expect(batches.length).toBeGreaterThan(2);
    expect(batches.length).toBeLessThanOrEqual(4);
    expect(batches.map(({ changed }) => changed.size)).toEqual(batches.map(() => 7));
    end.abort();
    expect(open()).toEqual([]);
  });

  it('Y2: have no stream while nobody sees the page, and what was missed is read afterwards', () => {
    const { missed, end } = follow();
    open()[0]?.dispatchEvent(new Event('ready'));
    expect(missed()).toBe(1);
    show(false);
    expect(open()).toEqual([]);
    show(true);
    expect(open()).toHaveLength(1);
    open()[0]?.dispatchEvent(new Event('ready'));
    expect(missed()).toBe(2);
    end.abort();
  });
});
