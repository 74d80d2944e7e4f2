import { describe, expect, it } from 'vitest';
import { openWorkspace } from '../../support/workspace.js';

const write = `export default ({ params, setData }) => { setData(params); };`;
const plugins = {
  'write.mjs': write,
  'thread.mjs': `export const isolate = 'thread';
    export default ({ params, setData, setStatus }) => { setData(params); setStatus('thread'); };`,
  'fails.mjs': `export default ({ setData }) => {
      setData({ lost: 1 });
      setData({ stays: 1 }, { always: true });
      throw new Error('no');
    };`,
  'breaks.mjs': `export const isolate = 'thread';
    export default ({ setData }) => {
      setData({ lost: 1 });
      setData({ broke: 1 }, { always: true });
      throw new Error('no');
    };`,
  'wrong.mjs': `export default ({ setData }) => setData([1]);`,
  'read.mjs': `export default ({ job, params }) => ({ seen: job.data, params });`,
};

describe('the data of a job', () => {
  // Shows B-12, D-08, G-03, X-33.
  it('are changed by plugins, inside and outside the process, and seen by those that follow', async () => {
    const space = await openWorkspace(plugins);
    await space.put(
      ...Object.keys(plugins).map((file) => {
        const name = file.replace('.mjs', '');
        // A thread takes its time to start on a busy machine.
        return { _id: `task:DEFAULT:${name}`, type: 'task', name, timeout: 120_000 };
      }),
    );
    await space.put({ _id: 'task:DEFAULT:set', type: 'task', name: 'set' });
    await space.engine();
    const beside = [
      { task: 'write', params: { left: 1, gone: null } },
      { task: 'thread', params: { right: 2 } },
      { task: 'fails', optional: true },
      { task: 'breaks', optional: true },
      { task: 'wrong', optional: true },
    ];
    const [id = ''] = await space.put({
      type: 'job',
      tasks: [
        { task: 'set', params: { own: true, gone: null, kept: { n: 1 } } },
        { parallel: beside },
        { task: 'read', params: { left: '{{job.data.left}}' } },
      ],
      data: { gone: 1, kept: 0 },
    });
    const ended = await space.ended(id);
    const data = { own: true, kept: { n: 1 }, left: 1, right: 2, stays: 1, broke: 1 };
    expect(ended).toMatchObject({ exit: 0, data, custom_status: 'thread' });
    expect(ended['data']).toEqual(data);
    expect(ended.steps.at(-1)?.['result']).toEqual({ seen: data, params: { left: 1 } });
    const wrong = ended.steps.find((step) => step['task'] === 'wrong');
    expect(wrong?.['failure']).toMatchObject({
      name: 'DataInvalid',
      message: 'The changes of job.data cannot be kept: they must be an object of keys to set.',
    });
  });
});
