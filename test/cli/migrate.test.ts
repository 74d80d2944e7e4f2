import { describe, expect, it } from 'vitest';
import { history } from '../../src/cli/commands/history.js';
import { migrate } from '../../src/cli/commands/migrate.js';
import { openProject } from './database.js';
import { task } from './terminal.js';

const plugins = { 'echo.mjs': 'export default ({ params }) => params;' };
const waits = { wait: { signal: 'go' } };
const version = (of: string, tasks: readonly unknown[], more: object = {}) => ({
  ...{ _id: `flow:DEFAULT:order@${of}`, type: 'flow', name: 'order', owner: 'DEFAULT' },
  ...{ version: of, timeout: 0, tasks, ...more },
});
const definitions = [
  ...['a', 'b', 'c'].map((name) => ({ ...task(name, { plugin: 'echo' }), _id: `task:${name}` })),
  version('1', ['a', waits, 'b'], { current: true }),
  version('2', ['a', waits, 'c']),
  version('3', ['b', waits]),
  version('4', ['a', waits, 'b'], { timeout: 1 }),
];

/** A project with an engine, and jobs of version 1 that wait. */
async function waiting(...ids: readonly string[]) {
  const opened = await openProject({}, plugins);
  await opened.put(...definitions);
  await opened.engine();
  await opened.put(...ids.map((_id) => ({ _id, type: 'job', flow: 'order' })));
  const isWaiting = ({ steps }: Readonly<Record<string, unknown>>): boolean =>
    Array.isArray(steps) && steps.length === 2;
  await Promise.all(ids.map((id) => opened.until(id, isWaiting)));
  return opened;
}

describe('tws migrate', () => {
  // Shows X-28.
  it('moves a job to another version, which it ends by', async () => {
    const { tws, put, ended } = await waiting('j');
    const moved = await tws(migrate, { args: ['j'], flags: { to: '2', by: 'ann', reason: 'new' } });
    expect(moved).toMatchObject({ exit: 0, err: '', json: { kind: 'applied', id: 'j' } });
    expect(moved.out).toMatch(/^moved: j from 1 \(1-\w+\) to 2 \(1-\w+\)\norder::DEFAULT => /);
    expect(moved.json).toMatchObject({ moved: { from: { version: '1' }, to: { version: '2' } } });
    await put({ _id: 's', type: 'signal', job: 'j', name: 'go' });
    const { steps, flow_version, exit } = await ended('j');
    expect(steps.map(({ name, attempt }) => `${String(name)}#${String(attempt)}`)).toEqual([
      ...['a#1', 'wait#1', 'c#1'],
    ]);
    expect({ flow_version, exit }).toEqual({ flow_version: '2', exit: 0 });
    const { json } = await tws(history, { args: ['j'] });
    expect(json).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          ...{ kind: 'RequestApplied', name: 'migrate' },
          data: expect.objectContaining({
            ...{ by: 'ann', to: '2', reason: 'new' },
            moved: {
              from: { version: '1', rev: expect.stringMatching(/^1-/) as string },
              to: { version: '2', rev: expect.stringMatching(/^1-/) as string },
            },
          }) as object,
        }),
      ]),
    );
    const late = await tws(migrate, { args: ['j'], flags: { to: '1' } });
    expect(late.error?.message).toBe(
      'Job j has ended. "tws retry --latest" lets it go on by the flow as it is stored now.',
    );
  });

  it('moves all jobs of a flow that can move, and names the others', async () => {
    const { tws, put, ended } = await waiting('one', 'two');
    expect(await tws(migrate, { args: ['one'], flags: { to: '2' } })).toMatchObject({ exit: 0 });
    await put({ _id: 'late', type: 'job', flow: 'order', exec_after: '2100-01-01T00:00:00Z' });
    const dry = await tws(migrate, { args: ['order'], flags: { to: '2', dryRun: true } });
    expect(dry).toMatchObject({ exit: 0 });
    expect(dry.json).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: 'one', can: 'there' }),
        expect.objectContaining({ id: 'two', can: 'moves', from: expect.anything() as object }),
        expect.objectContaining({
          id: 'late',
          can: 'moves',
          to: expect.objectContaining({ version: '2' }) as object,
        }),
      ]),
    );
    expect(dry.err).toContain('2 jobs can move, 1 is there already, 0 cannot.');
    const many = await tws(migrate, { args: ['order'], flags: { to: '2' } });
    expect(many).toMatchObject({ exit: 0, out: 'migrate: applied to 2 jobs' });
    expect(many.err).toContain('1 job left out: there already.');
    const back = await tws(migrate, { args: ['order'], flags: { to: '3' } });
    expect(back).toMatchObject({ exit: 1, out: 'migrate: applied to 1 job' });
    expect(back.err).toContain(
      'Job two stays where it is: step 0 (a) is done, and flow "order" version "3" has b there. Keep a at that place in the flow, or let the job end.',
    );
    const listed = await tws(migrate, { args: ['order'], flags: { to: '3', dryRun: true } });
    expect(listed).toMatchObject({ exit: 1 });
    expect(listed.out).toMatch(/^two +2 \(1-\w+\) +no +Job two stays where it is/m);
    await put({ _id: 's', type: 'signal', job: 'two', name: 'go' });
    expect((await ended('two')).steps.map(({ name }) => name)).toEqual(['a', 'wait', 'c']);
  });

  it('says what is wrong before it asks for anything', async () => {
    const { tws } = await waiting('j');
    const call = async (args: string[], to?: string) =>
      (await tws(migrate, { args, flags: to === undefined ? {} : { to } })).error?.message;
    expect(await call(['nothing'], '2')).toBe('There is no document "nothing".');
    expect(await call(['j'], '7')).toBe(
      'Flow "order" of owner "DEFAULT" has no version "7"; it has 1, 2, 3, 4. Store that version, or correct "flow_version" of the job.',
    );
    expect(await call(['j'], '3')).toMatch(/^Job j stays where it is: step 0 \(a\) is done/);
    const there = await tws(migrate, { args: ['j'] });
    expect(there).toMatchObject({
      exit: 0,
      out: 'skipping: Job j goes by flow "order" version "1" as it is stored now already.',
    });
    const over = 'The timeout of the flow (1 ms) is over';
    const all = await tws(migrate, { args: ['order'], flags: { to: '4' } });
    expect(all.err).toContain(`at once, when j moves: ${over}`);
  });
});
