import { expect, it } from 'vitest';
import { openWorkspace } from '../../support/workspace.js';

it('a signal that the database refuses in its job is kept until the job takes it', async () => {
  const space = await openWorkspace();
  const rule = `function (doc) { if (doc.signals) throw { forbidden: 'no signals here' }; }`;
  const design = { _id: '_design/rule', language: 'javascript', validate_doc_update: rule };
  await space.put(design);
  const tasks = [{ wait: { signal: 'go' } }];
  await space.put({ _id: 'flow:me:f', type: 'flow', name: 'f', owner: 'me', tasks });
  await space.engine({ sweepMs: 200 });
  await space.put({ _id: 'j', type: 'job', flow: 'f', owner: 'me' });
  await space.until('j', (doc) => Array.isArray(doc['steps']) && doc['steps'].length === 1);
  await space.put({ _id: 's', type: 'signal', job: 'j', name: 'go' });
  await space.logged(({ message }) => message.includes('no signals here'));
  const stored = await space.store.get('_design/rule');
  await space.store.remove('_design/rule', String(stored?._rev));
  expect(await space.ended('j')).toMatchObject({ exit: 0 });
});
