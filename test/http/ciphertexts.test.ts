import { expect, it } from 'vitest';
import { flow, task } from '../cli/terminal.js';
import { openApi } from './server.js';

const body = 'ZZcipherZZ';
const enc = `tws:v1:aaaaaaaaaaaaaaaaaaaaaa:bbbbbbbbbbbbbbbb:cccccccccccccccccccccc:${body}`;
const older = `${'0a'.repeat(16)}:${'1b'.repeat(16)}`;

type Paths = { readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>> };

/** A task, a flow and a job of acme that hold encrypted values, and two owners who may look. */
async function ready() {
  const api = await openApi({ settings: { sign_in: 'always' } });
  const params = { auth: { pass: enc, any: older }, token: { $enc: enc }, note: `see ${enc}` };
  const job = { params: { 'mail-0': params }, definitions: { mail: { type: 'task', params } } };
  const step = { index: 0, path: '0', name: 'mail', task: 'mail', attempt: 1, params };
  await api.put(
    { ...task('mail'), _id: 'mail', owner: 'acme', params },
    { ...flow('post', ['mail']), _id: 'post', owner: 'acme', params: { mail: params } },
    {
      _id: 'job',
      type: 'job',
      flow: 'post',
      owner: 'acme',
      ...job,
      state: '$$complete',
      exit: 2,
      start: 1,
      end: 2,
      steps: [{ ...step, state: '$$error', result: params, failure: { message: enc } }],
    },
  );
  return api;
}

it('is shown by no route to anybody but admins of its owner', async () => {
  const api = await ready();
  const { body: reference } = await api.ask<Paths>('GET', '/openapi.json');
  const paths = Object.entries(reference.paths).filter(([, methods]) => 'get' in methods);
  expect(paths.length).toBeGreaterThan(10);
  const ids = ['job', 'mail', 'post', 'mail::acme'];
  for (const role of ['tws-viewer', 'tws-operator', 'tws-admin']) {
    const token = await api.tokenOf(role, 'tws-owner:acme');
    const seen: string[] = [];
    for (const [path] of paths) {
      for (const id of path.includes('{') ? ids : ['']) {
        const asked = path.replace('{step}', '0').replaceAll(/\{\w+\}/g, id);
        const signal = AbortSignal.timeout(2_000);
        const answer = await api.ask('GET', asked, { token, signal }).catch(() => undefined);
        if (answer?.text.includes(body) === true || answer?.text.includes(older) === true)
          seen.push(path);
      }
    }
    const definitions = [
      ...['/_tws/tasks', '/_tws/tasks/{id}', '/_tws/flows', '/_tws/flows/{id}'],
      '/_tws/flows/{id}/versions/{version}',
    ];
    const own = role === 'tws-admin' ? definitions : [];
    expect([role, [...new Set(seen)].toSorted()]).toEqual([role, own.toSorted()]);
  }
});

it('comes back whole when an admin stores what was shown', async () => {
  const api = await ready();
  const token = await api.tokenOf('tws-admin', 'tws-owner:acme');
  const { body: shown } = await api.ask<{ document: { params: object } }>('GET', '/tasks/mail', {
    token,
  });
  expect(JSON.stringify(shown.document.params)).toContain(enc);
});
