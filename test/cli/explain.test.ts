import { describe, expect, it } from 'vitest';
import { explain } from '../../src/cli/commands/explain.js';
import { pause } from '../../src/cli/commands/request.js';
import { retry } from '../../src/cli/commands/repair.js';
import { openProject } from './database.js';
import { flow, task } from './terminal.js';

const plugins = {
  'hold.mjs': `export default ({ signal }) => new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });`,
};
const documents = [
  { _id: 't1', ...task('hold', { plugin: 'hold', timeout: 0 }) },
  { _id: 'f1', ...flow('long', ['hold']) },
  { _id: 'f2', ...flow('off', ['hold'], { enabled: false }) },
];

async function ready() {
  const space = await openProject({}, plugins);
  await space.put(...documents);
  const told = async (id: string): Promise<string> =>
    (await space.tws(explain, { args: [id] })).out;
  return { ...space, told };
}

describe('the advice of tws explain', () => {
  it('helps after a template named a parameter that the job does not have', async () => {
    const space = await openProject();
    const greet = task('greet', {
      plugin: 'set',
      params: { value: 'Dear {{job.params.custmer}}' },
    });
    await space.put({ _id: 't', ...greet }, { _id: 'f', ...flow('greet', ['greet']) });
    await space.put({ _id: 'j', type: 'job', flow: 'greet', params: { customer: 'Ada' } });
    await space.engine({ drainMs: 100 });
    await space.ended('j');
    const { out } = await space.tws(explain, { args: ['j'] });
    const [, id = '', params = ''] = /`tws retry (\S+) --params '([^']*)'`/.exec(out) ?? [];
    expect(params).toBe('{"custmer": VALUE}');
    const flags = { params: params.replace('VALUE', '"Ada"') };
    expect((await space.tws(retry, { args: [id], flags })).exit).toBe(0);
    await expect.poll(async () => (await space.store.get('j'))?.['exit']).toBe(0);
  });

  it('names the reason where an engine has a plugin that it cannot load', async () => {
    const space = await openProject({}, { 'bad.mjs': 'export default (' });
    await space.put(
      { _id: 't', ...task('bad', { plugin: 'bad' }) },
      { _id: 'f', ...flow('bad', ['bad']) },
    );
    await space.engine({ drainMs: 100 });
    await space.put({ _id: 'j', type: 'job', flow: 'bad' });
    await expect
      .poll(async () => (await space.tws(explain, { args: ['j'] })).out)
      .toMatch(
        /Plugin bad \(.*bad\.mjs\) cannot be loaded: .*Step "bad" needs it, .* Correct its file/s,
      );
  });
});

describe('tws explain', () => {
  it('names the job that has the target, before and after the other one is refused', async () => {
    const space = await ready();
    await space.put({ _id: 'j0', type: 'job', flow: 'long', target: 'disk-1' });
    const engine = await space.engine({ drainMs: 100 });
    await expect.poll(() => space.told('j0')).toContain('has run for');
    await space.put({ _id: 'j1', type: 'job', flow: 'long', target: 'disk-1' });
    await space.ended('j1');
    expect(await space.told('j1')).toMatch(/Job j0 with the same target "disk-1"/);
    await engine.stop();
    await space.put({ _id: 'j2', type: 'job', flow: 'long', target: 'disk-1' });
    await space.put({
      _id: 'j3',
      type: 'job',
      flow: 'long',
      target: 'disk-1',
      params: { hold: { a: 1 } },
    });
    expect(await space.told('j2')).toMatch(
      /Target "disk-1" is held by job j0 with the same parameters/,
    );
    expect(await space.told('j3')).not.toContain('is held by');
  });

  it('names the job whose locks match the target', async () => {
    const space = await ready();
    await space.put({ _id: 'j0', type: 'job', flow: 'long', locks: '^disk-' });
    const engine = await space.engine({ drainMs: 100 });
    await expect.poll(() => space.told('j0')).toContain('has run for');
    await engine.stop();
    await space.put({ _id: 'j1', type: 'job', flow: 'long', target: 'disk-1' });
    expect(await space.told('j1')).toMatch(/held by job j0, whose "locks" match it/);
  });

  it('says who paused a job', async () => {
    const space = await ready();
    await space.put({ _id: 'j', type: 'job', flow: 'long', exec_after: '2100-01-01T00:00:00Z' });
    await space.engine({ drainMs: 100 });
    const flags = { by: 'ada', reason: 'wrong month' };
    expect((await space.tws(pause, { args: ['j'], flags })).exit).toBe(0);
    expect(await space.told('j')).toMatch(/The job is paused by ada, .*: wrong month\./);
  });

  it('tells of a flow that is off or missing, which no engine has found out yet', async () => {
    const space = await ready();
    await space.put(
      { _id: 'j1', type: 'job', flow: 'off' },
      { _id: 'j2', type: 'job', flow: 'none' },
    );
    const engine = await space.engine({ drainMs: 100 });
    await space.ended('j1');
    await space.ended('j2');
    await engine.stop();
    expect(await space.told('j1')).toMatch(/failed.*"off" is disabled/);
    expect(await space.told('j2')).toMatch(/failed.*no flow "none"/i);
  });
});
