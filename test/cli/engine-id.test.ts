import { describe, expect, it } from 'vitest';
import { openProject, type Project } from './database.js';
import { tws, type Process } from './executable.js';
import { couchUrl } from '../support/couch.js';
import { environment } from './database.js';
import { project } from './terminal.js';

async function started({ root, env }: Pick<Project, 'root' | 'env'>): Promise<Process> {
  const engine = tws(['start'], { cwd: root, env });
  await engine.prints(/follows/);
  return engine;
}

const idsOf = async ({ store }: Project): Promise<readonly string[]> =>
  (await store.view('engines')).map(({ id }) => id).sort();

describe('tws start without a name', () => {
  // Shows J-02.
  it('has the id that its project keeps, also after it was killed', async () => {
    const opened = await openProject();
    const first = await started(opened);
    const [id = ''] = await idsOf(opened);
    expect(id).toMatch(/^engine:[\w-]{36}$/);
    first.kill('SIGKILL');
    await first.ended;
    const second = await started(opened);
    expect(await idsOf(opened)).toEqual([id]);
    second.kill('SIGTERM');
    expect(await second.ended).toBe(0);
    await started(opened);
    expect(await idsOf(opened)).toEqual([id]);
  });

  // Shows J-02.
  it('shares its id with no other engine of the folder, however many begin at once', async () => {
    const opened = await openProject();
    await Promise.all([1, 2, 3].map(() => started(opened)));
    const ids = await idsOf(opened);
    const [id = ''] = ids;
    expect(ids).toEqual([id, `${id}-2`, `${id}-3`]);
  });
});

describe('tws start before its database is there', () => {
  it('waits for it and says how to make it', async () => {
    const env = environment(`tws-test-late-${Date.now()}`);
    const root = await project();
    const engine = tws(['start'], { cwd: root, env });
    await engine.prints(/There is no database .* Run `tws init`.* Waiting for it\./);
    const init = tws(['init', '--no-confirm'], { cwd: root, env });
    expect(await init.ended).toBe(0);
    await engine.prints(/follows/);
    engine.kill('SIGTERM');
    expect(await engine.ended).toBe(0);
    const { origin } = new URL(couchUrl());
    const basic = `${env['COUCH_USER'] ?? ''}:${env['COUCH_PASS'] ?? ''}`;
    await fetch(`${origin}/${env['COUCH_DATABASE'] ?? ''}`, {
      method: 'DELETE',
      headers: { authorization: `Basic ${Buffer.from(basic).toString('base64')}` },
    });
  });
});
