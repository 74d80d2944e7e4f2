import { expect, it } from 'vitest';
import { openApi } from './server.js';

const now = Date.now();
const day = 86_400_000;
const usual = { succeeded: { age: 'P30D' }, archive: { folder: 'archive' } } as const;

/** A job that has ended two months ago. */
const ended = (_id: string, owner: string, more: object = {}) => ({
  ...{ _id, type: 'job', flow: 'f', owner, state: '$$complete', exit: 0, steps: [] },
  ...{ start: now - 60 * day, end: now - 60 * day + 1_000, ...more },
});

it('shows and restores archived jobs to whoever may see their owner', async () => {
  const api = await openApi({ settings: { sign_in: 'always' }, retain: usual });
  const { client, put, folder } = api;
  await put(
    ended('mine', 'acme'),
    ended('part', 'acme', { parent: { job: 'mine', step: 's' } }),
    ended('theirs', 'zeta'),
  );
  await client.retain({ usual, root: folder });
  const one = await api.tokenOf('tws-operator', 'tws-owner:acme');
  const all = await api.tokenOf('tws-operator', 'tws-owner:*');
  type Listed = { readonly jobs: readonly { readonly job: string }[]; readonly more: boolean };

  const listed = await api.ask<Listed>('GET', '/archive', { token: one });
  expect(listed.body.jobs.map(({ job }) => job)).toEqual(['mine']);
  const named = await api.ask<Listed>('GET', '/archive?job=theirs', { token: all });
  expect(named.body.jobs.map(({ job }) => job)).toEqual(['theirs']);
  const first = await api.ask<Listed>('GET', '/archive?limit=1', { token: all });
  expect([first.body.jobs.length, first.body.more]).toEqual([1, true]);
  const shown = await api.ask<{ docs: readonly { _id: string }[] }>('GET', '/archive/mine', {
    token: one,
  });
  expect(shown.body.docs.map(({ _id }) => _id)).toEqual(['mine', 'part']);
  for (const path of ['/archive/theirs', '/archive/none']) {
    expect((await api.ask('GET', path, { token: one })).status).toBe(404);
  }
  const refused = await api.ask('POST', '/archive/theirs/restore', { token: one });
  expect(refused.status).toBe(404);
  const restored = await api.ask('POST', '/archive/mine/restore', { token: one });
  expect([restored.status, restored.body]).toEqual([
    200,
    { job: 'mine', stored: ['part', 'mine'], there: [] },
  ]);
  expect((await api.ask('GET', '/retention', { token: one })).status).toBe(403);
});

it('tells how retention stands', async () => {
  const api = await openApi({ retain: usual });
  const before = await api.ask('GET', '/retention');
  const rules = [{ limits: { succeeded: { age: 'P30D' } }, archive: 'folder archive' }];
  expect(before.body).toEqual({ configured: true, expired: 0, problems: [], rules });
  await api.put(ended('old', 'acme'));
  await api.client.retention({ usual, root: api.folder, everyMs: day, by: 'engine:a', now });
  expect((await api.ask('GET', '/retention')).body).toMatchObject({
    ...{ configured: true, next: now + day },
    last: { at: now, by: 'engine:a', archived: 1, removed: { succeeded: 1 } },
  });
});
