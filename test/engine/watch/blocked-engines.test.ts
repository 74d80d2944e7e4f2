import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { enginesBlockedBy } from '../../../src/engine/watch/blocked-engines.js';
import { flow, job, task } from '../../support/documents.js';
import { openWorkspace } from '../../support/workspace.js';

const dist = join(import.meta.dirname, '..', '..', '..', 'dist', 'src');

/** An engine with a watchdog whose decisions about one job never end, while a plugin waits. */
const program = `
const [connection, name] = [JSON.parse(process.argv[2]), process.argv[3]];
const { startEngine, openStore, loadPlugins } = await import('${dist}/index.js');
const { startWatchdog } = await import('${dist}/engine/watch/watchdog.js');
const { decide } = await import('${dist}/decide/decide.js');
const nothing = () => undefined;
const watchdog = startWatchdog({ connection, leaseMs: 3_000, isTerminal: true });
watchdog.watch('engine:' + name);
const rule = (job, now, world) => {
  if (job._id === 'poison') for (;;);
  return decide(job, now, world);
};
await startEngine({
  ...{ store: openStore(connection), cwd: import.meta.dirname, name, rule },
  ...{ leaseMs: 3_000, renewMs: 1_000, onCall: watchdog.onCall, onDecide: watchdog.onDecide },
  plugins: await loadPlugins({ folders: [import.meta.dirname], log: nothing }),
  log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
});
console.log('ready');
setInterval(nothing, 1_000);
`;

// Shows E-06.
it('a job whose decisions block the crash limit of engines ends, and is named each time', async () => {
  const space = await openWorkspace({
    'waits.mjs': `export default ({ signal }) => new Promise((resolve) => {
      signal.addEventListener('abort', resolve);
    });`,
    'echo.mjs': 'export default () => 1;',
  });
  const { connection } = space.store;
  await writeFile(join(space.folder, '_engine.mjs'), program);
  await space.put(task('waits', { timeout: 0 }), task('echo'));
  await space.put(flow('waits', ['waits'], { timeout: 0 }), flow('f', ['echo']));
  await space.put(job('waits', { _id: 'waiting' }));
  for (let n = 0; n < 3; n += 1) {
    const args = [join(space.folder, '_engine.mjs'), JSON.stringify(connection), `held-up-${n}`];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    let said = '';
    child.stderr.on('data', (text: Buffer) => (said += text.toString()));
    // The first one runs a plugin, which only waits, when the job comes.
    if (n === 0) {
      await space.until('waiting', ({ state }) => state === 'waits-0');
      await space.put(job('f', { _id: 'poison' }));
    }
    expect(await ended).toEqual([null, 'SIGKILL']);
    expect(said).toContain('A decision about job poison has blocked the engine');
    expect(said).not.toContain('Plugin waits');
    const told = await space.until('poison', (doc) => enginesBlockedBy(doc).length > n);
    expect(enginesBlockedBy(told).at(-1)).toMatchObject({ engine: `engine:held-up-${n}` });
  }
  await space.engine();
  const ended = await space.ended('poison');
  const named = '(engine:held-up-0, engine:held-up-1, engine:held-up-2)';
  const message = expect.stringContaining(`blocked 3 engines in a row ${named}`) as string;
  expect(ended).toMatchObject({ exit: 3, failure: { name: 'DecisionBlocked', message } });
  // After a retry it is tried anew.
  expect(enginesBlockedBy(ended)).toEqual([]);
});

it('a job that held up one engine goes on in another, which forgets it', async () => {
  const space = await openWorkspace({ 'echo.mjs': 'export default () => 1;' });
  const held_up = [{ engine: 'engine:a', at: 1 }];
  await space.put(task('echo'), flow('f', ['echo']), job('f', { _id: 'a', held_up }));
  await space.engine();
  const ended = await space.ended('a');
  expect(ended).toMatchObject({ exit: 0 });
  expect(ended['held_up']).toBeUndefined();
});

it('a job that held up as many engines as the crash limit ends, and names them', async () => {
  const space = await openWorkspace({ 'echo.mjs': 'export default () => 1;' });
  const held_up = ['a', 'b', 'c'].map((name) => ({ engine: `engine:${name}`, at: 1 }));
  await space.put(task('echo'), flow('f', ['echo']), job('f', { _id: 'a', held_up }));
  await space.engine();
  const ended = await space.ended('a');
  const message = expect.stringContaining('(engine:a, engine:b, engine:c)') as string;
  expect(ended).toMatchObject({ exit: 3, failure: { name: 'DecisionBlocked', message } });
  expect(ended['held_up']).toBeUndefined();
});
