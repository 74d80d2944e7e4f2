import { expect, it } from 'vitest';
import { signal } from '../../src/cli/commands/messages.js';
import { openProject } from './database.js';
import { flow } from './terminal.js';

it('warns of a signal that no wait of the job has the name of, and the job tells it', async () => {
  const { tws, put, engine, until } = await openProject({});
  await engine();
  await put({ ...flow('ask', [{ wait: { signal: 'approved' } }], { owner: 'me' }), _id: 'f' });
  await put({ _id: 'j', type: 'job', flow: 'ask', owner: 'me' });
  await until('j', (doc) => Array.isArray(doc['steps']) && doc['steps'].length === 1);
  const odd = await tws(signal, { args: ['j', 'aproved'] });
  const told = 'nothing in this job waits for the signal "aproved"; did you mean "approved"?';
  expect(odd).toMatchObject({ exit: 0, json: { warnings: [{ path: 'signals' }] } });
  expect(odd.err).toContain(`warning: j: signals: ${told}`);
  const { problems } = await until('j', (doc) => Array.isArray(doc['problems']));
  expect(problems).toEqual([{ path: 'signals', message: `signals: ${told}` }]);
  const good = await tws(signal, { args: ['j', 'approved'] });
  expect(good).toMatchObject({ exit: 0, err: '' });
  await until('j', (doc) => doc['state'] === '$$complete');
  const early = await tws(signal, { args: ['later', 'any'] });
  expect(early).toMatchObject({ exit: 0, err: '' });
});
