import { describe, expect, it } from 'vitest';
import { signal } from '../../src/cli/commands/messages.js';
import { openProject } from '../cli/database.js';
import { flow, task } from '../cli/terminal.js';
import { openApi } from './server.js';

const schema = { type: 'object', required: ['item'] };
const documents = [
  { ...task('count', { plugin: 'noop' }), _id: 't' },
  {
    ...flow('cart', [
      { name: 'add', wait: { signal: 'add', schema, answer: '{"taken": data.item}' } },
      { name: 'pay', wait: { signal: 'pay', answer: { step: 'bill' } } },
      { task: 'count', name: 'bill', params: { sum: '{{results.pay.sum}}' } },
      { wait: { signal: 'never' } },
    ] as never),
    ...{ _id: 'f', timeout: 0 },
  },
];

describe('a signal whose sender waits for the answer', () => {
  // Shows.
  it('is answered over HTTP at receipt, by a later step, or refused; by whichever engine lives', async () => {
    const api = await openApi();
    await api.put(...documents, { _id: 'j', type: 'job', flow: 'cart' });
    const first = await api.engine();
    const send = (name: string, data: unknown, more = '') =>
      api.ask('POST', `/jobs/j/signal?wait=60s${more}`, { body: { name, data } });
    const refused = await send('add', {});
    expect([refused.status, refused.body]).toMatchObject([
      422,
      {
        error: 'signal_refused',
        reason:
          'Job "j" refused the signal: The data do not suit the "schema" of step "add": data.item is missing.',
      },
    ]);
    expect((await send('add', { item: 3 })).body).toMatchObject({
      ...{ outcome: 'answered', answer: { taken: 3 } },
    });
    // The engine that takes the next one dies before it can answer.
    const paid = send('pay', { sum: 9 });
    await first.stop();
    await api.engine();
    expect((await paid).body).toMatchObject({ outcome: 'answered', answer: { sum: 9 } });
    const late = await api.ask('POST', '/jobs/j/signal?wait=50ms', { body: { name: 'x' } });
    expect([late.status, late.body['answer']]).toEqual([202, undefined]);
  });

  it('is printed by tws signal --wait, also of a job that it starts', async () => {
    const { tws, put, engine } = await openProject();
    await put(...documents);
    await engine();
    const flags = { data: '{"item": 4}', wait: true, start: 'cart', timeout: '60' };
    const { exit, out } = await tws(signal, { args: ['c-1', 'add'], flags });
    expect([exit, out]).toEqual([0, expect.stringMatching(/\n\{\n {2}"taken": 4\n\}$/)]);
    const late = await tws(signal, { args: ['c-1', 'x'], flags: { wait: true, timeout: '1' } });
    expect([late.exit, late.error?.message]).toEqual([
      124,
      'Job "c-1" has not answered the signal in time.',
    ]);
    const odd = await tws(signal, { args: ['c-1', 'x'], flags: { timeout: '1' } });
    expect(odd.error?.message).toBe('--timeout is for --wait.');
  });
});
