import { expect, it } from 'vitest';
import { flow, task } from '../cli/terminal.js';
import { openApi } from './server.js';

type Tests = { readonly tests: readonly { readonly from: string; readonly job: string }[] };
type Lists = { readonly lists: readonly { readonly id: string }[] };

it('notify lists are stored, listed and tested by whoever has their owner', async () => {
  const notify = [{ owner: 'DEFAULT', on: ['failed'], task: 'tell' }] as const;
  const api = await openApi({ settings: { sign_in: 'always' }, notify: notify as never });
  await api.put({ ...task('tell'), _id: 'task:DEFAULT:tell' });
  const all = await api.tokenOf('tws-admin', 'tws-owner:*');
  const acme = await api.tokenOf('tws-admin', 'tws-owner:acme');
  const body = { notify: [{ on: ['failed'], task: 'tell' }] };
  const put = (owner: string, token: string) => api.ask('PUT', `/notify/${owner}`, { body, token });
  expect((await put('DEFAULT', all)).status).toBe(201);
  expect((await put('acme', acme)).status).toBe(201);
  expect((await put('DEFAULT', acme)).status).toBe(403);
  expect(await api.client.get('notify:acme')).toMatchObject({ type: 'notify', owner: 'acme' });

  const seen = await api.ask<Lists>('GET', '/notify', { token: acme });
  expect(seen.body.lists.map(({ id }) => id)).toEqual(['notify:acme']);
  expect((await api.ask('GET', '/notify/DEFAULT', { token: acme })).status).toBe(404);
  const shown = await api.ask('GET', '/notify/acme', { token: acme });
  expect(shown.body).toMatchObject({ id: 'notify:acme', owner: 'acme', document: body });

  const tested = async (token: string) => {
    const { body: answer } = await api.ask<Tests>('POST', '/notify/acme/test', { body: {}, token });
    return answer.tests;
  };
  // What is sent for all owners is not shown to one of them.
  expect((await tested(acme)).map(({ from }) => from)).toEqual(['notify:acme']);
  await api.put({ ...flow('shared', ['tell']), _id: 'f', owner: 'DEFAULT' });
  const ofFlow = (token: string) =>
    api.ask('POST', '/notify/acme/test', { body: { flow: 'shared' }, token });
  expect([(await ofFlow(acme)).status, (await ofFlow(all)).status]).toEqual([404, 202]);
  const [first, ...others] = await tested(all);
  expect([first?.from, ...others.map(({ from }) => from)].sort()).toEqual([
    ...['notify:DEFAULT', 'notify:acme', 'tws.json'],
  ]);
  expect(await api.client.get(first?.job ?? '')).toMatchObject({ type: 'job', notifies: {} });
});
