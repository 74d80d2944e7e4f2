import { it } from 'vitest';
import { flow, task } from '../cli/terminal.js';
import { openApi } from './server.js';
it('smoke', async () => {
  const api = await openApi();
  const show = (r: { status: number; text: string }) => console.log(r.status, r.text.slice(0, 600));
  show(await api.ask('PUT', '/tasks/a', { body: task('a') }));
  show(await api.ask('PUT', '/flows/f', { body: flow('f', ['a', 'a', 'b']) }));
  show(await api.ask('PUT', '/flows/f', { body: flow('f', ['a']) }));
  show(await api.ask('POST', '/jobs', { body: { flow: 'f' } }));
  await api.engine();
  const { body } = await api.ask('POST', '/jobs', { body: { flow: 'f', _id: 'x' } });
  show(await api.ask('GET', '/jobs/x?wait=10s'));
  for (const p of ['/jobs', '/jobs/x/history', '/jobs/x/explain', '/jobs/x/info', '/flows', '/tasks', '/engines', '/stats?from=0&unit=day', '/stats?from=2026-01-01T00:00:00Z&unit=day', '/ping', '/health/ready', '/session', '/nix', '/metrics', '/docs'])
    show(await api.ask('GET', p));
  show(await api.ask('POST', '/jobs/x/notes', { body: { text: 'hi' } }));
  show(await api.ask('PATCH', '/jobs/x/notes'));
  show(await api.ask('POST', '/jobs/x/cancel'));
  const d = await api.ask('GET', '/openapi.json');
  console.log(d.status, d.text.length, Object.keys((d.body as any).components.schemas));
  console.log(body, api.lines.filter(l => l.level !== 'debug'));
});
