import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { importWorkflows } from '../../src/cli/commands/import.js';
import { packageRoot } from '../../src/package.js';
import { createTestEngine, type TestEngine } from '../../src/testing/index.js';
import { project, run } from '../cli/terminal.js';

const fixtures = join(packageRoot(), 'test', 'fixtures', 'node-workflow');

/** A project with these fixtures beside it, and what the import of them says. */
async function imported(file: string, flags: Readonly<Record<string, unknown>> = {}) {
  const cwd = await project({ 'config.json': { runner: { sandbox: { region: 'eu-1' } } } });
  await cp(fixtures, join(cwd, 'old'), { recursive: true });
  await mkdir(join(cwd, 'node_modules'));
  await symlink(packageRoot(), join(cwd, 'node_modules', 'tws'));
  const args = ['node-workflow', `old/${file}`];
  return { cwd, args, ran: await run(importWorkflows, { cwd, args, flags }) };
}

async function documentsIn(cwd: string, kind: string): Promise<Record<string, unknown>[]> {
  const folder = join(cwd, 'couch', 'tws', kind);
  const names = await readdir(folder);
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return texts.map((text) => JSON.parse(text) as Record<string, unknown>);
}

/** An engine that has the imported plugins, tasks and flows. */
async function engineOf(cwd: string): Promise<TestEngine> {
  const documents = [
    ...(await documentsIn(cwd, 'tasks')),
    ...(await documentsIn(cwd, 'flows')),
  ].map(({ $schema: _, ...doc }) => doc);
  const engine = await createTestEngine({ documents, folders: [join(cwd, 'plugins')], cwd });
  onTestFinished(() => engine.close());
  return engine;
}

describe('a module that exports a workflow', () => {
  // Shows X-57.
  it('runs as an imported project, with retries, a fallback and a chain for errors', async () => {
    const { cwd, ran } = await imported('orders.cjs');
    expect([ran.exit, ran.err]).toEqual([
      0,
      'note: old/orders.cjs, workflow "Take an order", task "Price": its body uses "settings" of its module: the plugin imports ../old/orders.cjs, which has to stay there.',
    ]);
    expect(ran.out).toMatch(
      /1 flow and 6 tasks are imported\.\nNext: tws push --map, and start engines again/,
    );
    const [flow] = await documentsIn(cwd, 'flows');
    expect(flow).toMatchObject({
      ...{ name: 'Take an order', owner: 'DEFAULT', timeout: 180_000, restarts: 2 },
      tasks: [
        { task: 'reserve-stock', name: 'Reserve stock' },
        { task: 'charge-card', name: 'Charge card', timeout: 180_000 },
        { task: 'price', name: 'Price', timeout: 180_000 },
        { task: 'ship', name: 'Ship', timeout: 180_000 },
      ],
      error: [{ task: 'apologize', name: 'Apologize', timeout: 180_000 }],
      node_workflow: { max_attempts: 3, initial_delay: 1000, max_delay: 1500, timeout: 180 },
    });
    const tasks = await documentsIn(cwd, 'tasks');
    expect(tasks.find(({ name }) => name === 'reserve-stock')).toMatchObject({
      timeout: 30_000,
      retry: { limit: 1, delay: 0 },
    });
    expect(tasks.find(({ name }) => name === 'charge-card')).toMatchObject({
      timeout: 3_600_000,
      retry: 0,
      error: 'charge-card-fallback',
    });
    const text = await readFile(join(cwd, 'plugins', 'ship.mjs'), 'utf8');
    expect(text).toContain("import { fromNodeWorkflow, info } from 'tws/node-workflow';");
    expect(text).toContain('fromNodeWorkflow(({ body(job, cb) {\n');

    const engine = await engineOf(cwd);
    const params = { order: 17, items: 2 };
    const good = await engine.submit({ type: 'job', flow: 'Take an order', params });
    const done = await engine.ended(good);
    expect(done).toMatchObject({ exit: 0 });
    expect(done.data).toEqual({
      tries: 2,
      shelf: { row: 7, order: 17 },
      charged_by: 'invoice',
      card_error: ['CardDeclined', 'The card is declined', 'E_CARD', true],
      price: '12 EUR',
    });
    const steps = (done.steps ?? []).map(({ name, attempt, state, result }) => [
      name,
      attempt,
      state,
      result,
    ]);
    expect(steps).toEqual([
      ['Reserve stock', 1, '$$error', undefined],
      ['Reserve stock', 2, '$$complete', 'reserved'],
      ['Charge card', 1, '$$error', undefined],
      ['charge-card-fallback', 1, '$$complete', 'an invoice is sent'],
      ['Price', 1, '$$complete', 'OK'],
      ['Ship', 1, '$$complete', 'OK'],
    ]);
    const bad = await engine.submit({
      ...{ type: 'job', flow: 'Take an order', params: { ...params, fails: true } },
    });
    const failed = await engine.ended(bad);
    expect(failed).toMatchObject({
      exit: 2,
      failure: { name: 'WorkflowError', message: 'There is no ship', step: 'Ship' },
      data: { sorry: 'There is no ship' },
    });
    expect((failed.steps ?? []).filter(({ name }) => name === 'Ship')).toHaveLength(2);
  });
});

describe('a module that exports a function that makes workflows', () => {
  // Shows X-57.
  it('runs as an imported project that waits, is resumed, goes on later and begins anew', async () => {
    const { cwd, ran } = await imported('machines.mjs');
    expect([ran.exit, ran.err]).toEqual([0, '']);
    const [flow] = await documentsIn(cwd, 'flows');
    expect(flow).toMatchObject({ timeout: 0, restarts: 4, cancel: [{ task: 'clean-up' }] });
    const engine = await engineOf(cwd);
    const from = engine.now();
    const job = await engine.submit({
      ...{ type: 'job', flow: 'Make a machine', params: { host: 'h1' }, data: { old: 1 } },
    });
    const begun: number[] = [];
    for (const answer of ['first', 'second', 'third']) {
      const waiting = await engine.until(job, ({ steps }) => steps?.at(-1)?.state === '$$waiting');
      begun.push(engine.now() - from);
      expect(waiting.data).toMatchObject({ asked: 'h1' });
      await engine.signal(job, 'resume', answer);
    }
    const done = await engine.ended(job);
    expect(done).toMatchObject({ exit: 0 });
    expect(done.data).toEqual({
      asked: 'h1',
      answer: 'third',
      digest: '346b81a32e7007eccadf60252bb599f0',
    });
    expect(begun).toEqual([0, 3_660_000, 3_750_000]);
  });

  it('runs the chain for a cancel, and fails where the task that waits is told of an error', async () => {
    const { cwd } = await imported('machines.mjs');
    const engine = await engineOf(cwd);
    const order = { type: 'job', flow: 'Make a machine', params: { host: 'h2' } };
    const cancelled = await engine.submit(order);
    await engine.until(cancelled, ({ steps }) => steps?.at(-1)?.state === '$$waiting');
    await engine.request(cancelled, 'cancel');
    expect(await engine.ended(cancelled)).toMatchObject({ exit: 130, data: { cleaned: 'h2' } });
    const refused = await engine.submit(order);
    await engine.until(refused, ({ steps }) => steps?.at(-1)?.state === '$$waiting');
    const failure = { name: 'WorkflowError', message: 'The host is on fire.' };
    await engine.put({ type: 'signal', job: refused, name: 'resume', failure });
    expect(await engine.ended(refused)).toMatchObject({ exit: 2, failure });
  });
});

describe('the JSON of GET /workflows', () => {
  // Shows X-57.
  it('runs what can be imported of it, and says of each task why another cannot', async () => {
    const { cwd, args, ran } = await imported('workflows.json', { sandbox: 'config.json' });
    expect(ran.exit).toBe(1);
    expect(ran.err.split('\n').map((line) => line.replace(/^.*?task /, ''))).toEqual([
      '"No body": it has no body.',
      '"No JavaScript": the source of its body is no JavaScript: Unexpected token.',
      '"Sloppy": its body is not valid in strict mode, in which plugins run: \'with\' in strict mode.',
      '"Strange": its "timeout" is no number of seconds.',
      '"Moon": its body uses "moon", which neither its "modules" nor --sandbox gives it.',
    ]);
    expect((await documentsIn(cwd, 'flows')).map(({ name }) => name)).toEqual(['Back up']);
    const engine = await engineOf(cwd);
    const job = await engine.submit({ type: 'job', flow: 'Back up' });
    const done = await engine.ended(job);
    expect(done).toMatchObject({ exit: 0, steps: [{ result: { copied: 3 } }, {}, {}, {}] });
    expect(done.data).toEqual({
      ...{ line: '\n', region: 'eu-1', checks: 2, late: 'task timeout error' },
    });

    const again = await run(importWorkflows, { cwd, args, flags: { sandbox: 'config.json' } });
    expect(again.out).not.toMatch(/created|updated/);
    await writeFile(join(cwd, 'config.json'), '{"region": "eu-2"}');
    const newer = await run(importWorkflows, { cwd, args, flags: { sandbox: 'config.json' } });
    expect(newer.out).toMatch(/^updated: plugins\/copy.mjs$/m);
    await writeFile(join(cwd, 'plugins', 'copy.mjs'), '// mine');
    const refused = await run(importWorkflows, { cwd, args, flags: { sandbox: 'config.json' } });
    expect([refused.exit, refused.error?.code]).toEqual([1, 'import_changed']);
    expect(await readFile(join(cwd, 'plugins', 'copy.mjs'), 'utf8')).toBe('// mine');
  });
});

it('tws import --dry-run writes nothing, and --into writes elsewhere', async () => {
  const { cwd, args, ran } = await imported('orders.cjs', { dryRun: true });
  expect(ran.out).toMatch(/^would be created: plugins\/ship.mjs$/m);
  expect(await readdir(cwd)).not.toContain('plugins');
  const flags = { into: 'new' };
  const into = await run(importWorkflows, { cwd, args, flags, mode: 'json' });
  expect(into.json).toMatchObject({
    dry_run: false,
    files: expect.arrayContaining([{ file: 'new/plugins/ship.mjs', change: 'created' }]) as unknown,
    remarks: [{ level: 'note', task: 'Price' }],
  });
  const price = await readFile(join(cwd, 'new', 'plugins', 'price.mjs'), 'utf8');
  expect(price).toContain("import * as workflows from '../../old/orders.cjs';");
});

describe('tws import refuses', () => {
  it.each([
    [
      'another origin',
      ['airflow', 'x.json'],
      'Imported is from node-workflow, not from "airflow".',
    ],
    ['a file that is not there', ['node-workflow', 'x.json'], 'There is no file or folder x.json.'],
    ['a file without workflows', ['node-workflow', 'tws.json'], 'it holds no workflow'],
    ['a module that does not load', ['node-workflow', 'bad.mjs'], 'bad.mjs cannot be used: no.'],
    [
      'a CommonJS module that Node takes for an ES module',
      ['node-workflow', 'old.js'],
      'old.js cannot be used: it is a CommonJS module, and Node takes it for an ES module. Call it .cjs',
    ],
    [
      'a function that fails',
      ['node-workflow', 'fails.mjs'],
      'a function that it exports failed: no.',
    ],
  ])('%s', async (_, args, message) => {
    const cwd = await project({
      'tws.json': {},
      'bad.mjs': `throw new Error('no');`,
      // Vitest would run one of these; this is what Node says.
      'old.js': `throw new Error('require is not defined in ES module scope, you can use import');`,
      'fails.mjs': `export default () => { throw new Error('no'); };`,
    });
    const { error, exit } = await run(importWorkflows, { cwd, args });
    expect(error?.message).toContain(message);
    expect(exit).not.toBe(0);
  });
});
