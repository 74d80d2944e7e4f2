import { describe, expect, it } from 'vitest';
import { createSharedCalls, readSharedCalls } from '../../../src/engine/watch/blocking.js';
import type { AttributedCall } from '../../../src/engine/watch/watchdog-messages.js';

const call = (plugin: string, about: AttributedCall['about'] = {}): AttributedCall => ({
  ...{ plugin, file: `/plugins/${plugin}.mjs`, about, endsAt: 5 },
});

describe('the calls that another thread reads', () => {
  it('are those that have begun and not ended, in any script', () => {
    const calls = createSharedCalls();
    const end = calls.begin(call('a', { job: 'j', step: 's', attempt: 1 }));
    calls.begin(call('größe', { job: 'ä🙂' }));
    expect(readSharedCalls(calls.shared)).toEqual([
      call('a', { job: 'j', step: 's', attempt: 1 }),
      call('größe', { job: 'ä🙂' }),
    ]);
    end();
    calls.begin(call('c'));
    expect(readSharedCalls(calls.shared).map(({ plugin }) => plugin)).toEqual(['c', 'größe']);
  });

  it('name the plugin alone where the text would be too long, and nothing where that is', () => {
    const calls = createSharedCalls();
    calls.begin(call('a', { job: 'ä'.repeat(2_000) }));
    calls.begin(call('b'.repeat(2_000)));
    expect(readSharedCalls(calls.shared)).toEqual([
      { plugin: 'a', file: '', about: {}, endsAt: 5 },
    ]);
  });

  it('leave out what there is no place for, until a call has ended', () => {
    const calls = createSharedCalls();
    const ends = Array.from({ length: 1_100 }, (_, i) => calls.begin(call(String(i))));
    expect(readSharedCalls(calls.shared)).toHaveLength(1_024);
    for (const end of ends.slice(1_000)) end();
    expect(readSharedCalls(calls.shared)).toHaveLength(1_000);
    for (const end of ends.slice(0, 1_000)) end();
    expect(readSharedCalls(calls.shared)).toEqual([]);
  });

  it('are not there while their text is being written', () => {
    const { shared, begin } = createSharedCalls();
    begin(call('a'));
    Buffer.from(shared)[5] = 0;
    expect(readSharedCalls(shared)).toEqual([]);
  });
});
