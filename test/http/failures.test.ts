import { describe, expect, it } from 'vitest';
import { openApi } from './server.js';

const failed = (n: number, name: string, more: object = {}) => ({
  ...{ _id: `import-${n}`, type: 'job', flow: `f${n % 2}`, owner: 'DEFAULT', steps: [] },
  ...{ state: '$$complete', exit: 2, start: n * 1_000, end: n * 1_000 + 5 },
  failure: { name, message: `It is ${name} number ${n}.` },
  ...more,
});

describe('failed jobs', () => {
  // Shows X-36.
  it('are grouped by cause and flow, found by what they say, and removed with their children', async () => {
    const api = await openApi();
    await api.put(
      ...[1, 2, 3].map((n) => failed(n, 'NoAmount')),
      failed(4, 'Timeout', { owner: 'acme' }),
      { ...failed(5, 'Odd'), _id: 'other-5', failure: 'none', parent: { job: 'import-1' } },
      { ...failed(6, 'Odd'), _id: 'other-6', parent: { job: 'other-5' } },
      { _id: 'live-1', type: 'job', flow: 'f1', owner: 'DEFAULT' },
    );
    const { body } = await api.ask('GET', '/failures');
    expect(body).toMatchObject({
      groups: [
        {
          failure: 'NoAmount',
          count: 3,
          flows: [
            { flow: 'f1', count: 2 },
            { flow: 'f0', count: 1 },
          ],
          newest: { id: 'import-3', at: 3_000, message: 'It is NoAmount number 3.' },
        },
        { failure: 'Odd', count: 1 },
        { failure: '', count: 1, newest: { id: 'other-5' } },
        { failure: 'Timeout', count: 1, flows: [{ flow: 'f0', count: 1 }] },
      ],
      looked: 6,
      more: false,
    });
    const own = await api.ask('GET', '/failures', {
      token: await api.tokenOf('tws-viewer', 'tws-owner:acme'),
    });
    expect(own.body).toMatchObject({ groups: [{ failure: 'Timeout', count: 1 }], looked: 1 });

    const found = async (query: string): Promise<readonly string[]> => {
      const { body: list } = await api.ask<{ jobs: readonly { id: string }[] }>(
        'GET',
        `/jobs?${query}`,
      );
      return list.jobs.map(({ id }) => id);
    };
    expect(await found('id_prefix=import-')).toHaveLength(4);
    expect(await found('text=AMOUNT%20number%202')).toEqual(['import-2']);
    expect(await found('text=timeout:&flow=f0')).toEqual(['import-4']);
    expect(await found('text=nothing')).toEqual([]);

    expect((await api.ask('DELETE', '/jobs/live-1')).status).toBe(409);
    const { body: gone } = await api.ask('DELETE', '/jobs/import-1?children=true');
    expect(gone).toEqual({ removed: ['import-1', 'other-5', 'other-6'] });
    expect(await found('id_prefix=other')).toEqual([]);
    const { body: alone } = await api.ask('DELETE', '/jobs/import-2');
    expect(alone).toEqual({ removed: ['import-2'] });
  });
});
