import { randomBytes } from 'node:crypto';
/** A file to be made: its path below the project, and its text. */
export type Scaffold = { readonly path: string; readonly text: string };

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** A task that a plugin does. */
export function taskScaffold(name: string, plugin: string): Scaffold {
  return {
    path: `couch/tws/tasks/${name}.json`,
    text: json({
      $schema: '../../schemas/task.json',
      type: 'task',
      name,
      plugin,
      params: {},
      timeout: 15_000,
      retry: 0,
    }),
  };
}

/** A flow of some tasks, one after the other. */
export function flowScaffold(name: string, owner: string, tasks: readonly string[]): Scaffold {
  return {
    path: `couch/tws/flows/${name}.json`,
    text: json({
      $schema: '../../schemas/flow.json',
      type: 'flow',
      name,
      owner,
      tasks,
    }),
  };
}

/** Test cases of a flow. `tasks`: its tasks with the parameters that they need. */
export function flowTestScaffold(
  name: string,
  owner: string,
  tasks: Readonly<Record<string, object>> = {},
): Scaffold {
  const steps = Object.keys(tasks);
  return {
    path: `test/${name}.test.json`,
    text: json({
      $schema: '../couch/schemas/test.json',
      flow: name,
      owner,
      ...(steps.length === 0 ? {} : { params: tasks }),
      mocks: Object.fromEntries(steps.map((step) => [step, { result: { done: true } }])),
      cases: [
        { name: 'succeeds', expect: { path: steps, status: 'succeeded' } },
        ...steps.slice(0, 1).map((step) => ({
          name: `fails where ${step} fails`,
          mocks: { [step]: { fails: { name: 'Broken', message: 'Not today.' } } },
          expect: { path: [step], status: 'failed', failure: { name: 'Broken' } },
        })),
      ],
    }),
  };
}

/** A schedule that runs a flow at three each morning. */
export function scheduleScaffold(given: {
  readonly name: string;
  readonly owner: string;
  readonly flow: string;
  /** IANA time zone. */
  readonly zone: string;
}): Scaffold {
  const { name, owner, flow, zone } = given;
  return {
    path: `couch/tws/schedules/${name}.json`,
    text: json({
      $schema: '../../schemas/schedule.json',
      ...{ type: 'schedule', name, owner, flow },
      ...{ cron: '0 3 * * *', time_zone: zone, params: {} },
    }),
  };
}

/** A hook that takes deliveries of senders who follow Standard Webhooks, with a new secret, once it is enabled. */
export function hookScaffold(given: {
  readonly name: string;
  readonly owner: string;
  readonly flow: string;
}): Scaffold {
  const { name, owner, flow } = given;
  return {
    path: `couch/tws/hooks/${name}.json`,
    text: json({
      $schema: '../../schemas/hook.json',
      ...{ type: 'hook', name, owner, flow },
      check: { standard_webhooks: { secret: `whsec_${randomBytes(24).toString('base64')}` } },
      params: '{ "body": body }',
      enabled: false,
    }),
  };
}

/** A job for a flow. */
export function jobScaffold(
  flow: string,
  owner: string,
  params: Readonly<Record<string, unknown>>,
): Scaffold {
  return {
    path: `couch/tws/jobs/${flow}.json`,
    text: json({ $schema: '../../schemas/job.json', type: 'job', flow, owner, params }),
  };
}

export type PluginScaffold = {
  readonly name: string;
  /** TypeScript instead of JavaScript with JSDoc. */
  readonly ts: boolean;
};

/** A plugin that greets; one of another name is told what it is to say of itself. */
export function pluginScaffold({ name, ts }: PluginScaffold): Scaffold {
  const does = name === 'hello' ? 'Says hello' : `Does ${name}: say here what that is`;
  const about = `What it returns becomes the step's result; what it throws, its failure. A long one calls
 * heartbeat({ ... }), which throws when the attempt is to end, or passes signal to what it waits for.`;
  const head = ts ? `import type { Plugin } from 'tws/plugin';\n\n` : '';
  const typed = ts
    ? `/**
 * ${about}
 */
const run: Plugin<{ name: string }> = async ({ params, log, signal }) => {`
    : `/**
 * ${about}
 * @type {import('tws/plugin').Plugin<{ name: string }>}
 */
const run = async ({ params, log, signal }) => {`;
  return {
    path: `plugins/${name}.${ts ? 'mts' : 'mjs'}`,
    text: `${head}export const description = '${does}';

/** JSON Schema of the parameters: checked before each call. */
export const params = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string', description: 'Who is greeted' } },
};

${typed}
  signal.throwIfAborted();
  log('greeting', { name: params.name });
  return { greeting: \`Hello \${params.name}\` };
};

export default run;
`,
  };
}

/** A test of that plugin, for `node --test`. */
export function pluginTestScaffold({ name, ts }: PluginScaffold): Scaffold {
  const extension = ts ? 'mts' : 'mjs';
  return {
    path: `test/${name}.test.${extension}`,
    text: `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestContext, runTestAttempt } from 'tws/testing';
import * as plugin from '../plugins/${name}.${extension}';

test('${name} returns a greeting', async () => {
  const { context, logged } = createTestContext({ params: { name: 'Ada' } });
  assert.deepEqual(await plugin.default(context), { greeting: 'Hello Ada' });
  assert.equal(logged[0]?.message, 'greeting');
});

test('${name} fails if the parameter "name" is missing', async () => {
  const { outcome } = await runTestAttempt(plugin, { params: {} });
  assert.equal(outcome.kind === 'failed' && outcome.failure.name, 'ParamsInvalid');
});
`,
  };
}

/** Everything of a new project but the JSON Schemas, which are copied. */
export function projectScaffold(name: string, owner: string): readonly Scaffold[] {
  return [
    { path: 'tws.json', text: json({ $schema: './couch/schemas/tws.json', project: name }) },
    { path: '.gitignore', text: '.tws*\nnode_modules\n' },
    { path: 'README.md', text: projectReadme(name) },
    pluginScaffold({ name: 'hello', ts: false }),
    taskScaffold('hello', 'hello'),
    flowScaffold('hello', owner, ['hello']),
    flowTestScaffold('hello', owner, { hello: { name: 'Ada' } }),
    jobScaffold('hello', owner, { 'hello-0': { name: '[[name]]' } }),
  ];
}

function projectReadme(name: string): string {
  return `# ${name}

    npx tws dev --mailbox                          # server, Fauxton and an engine; pushes couch/tws
    npx tws submit hello --set name=World --wait   # in a second terminal

The samples that come with tws send mails; \`--mailbox\` catches them on this machine:

    npx tws push --samples                         # stores their tasks and flows
    npx tws submit mailtest --wait
    npx tws submit mail-to --set to=me@example.com --set subject=Hello --wait
    npx tws submit approval --id a1                # waits for a person
    npx tws inbox                                  # what waits for whom
    npx tws answer a1                              # asks for your answer

- \`couch/tws/tasks\`, \`flows\`, \`jobs\`: the documents. After a change \`npx tws validate\` checks
  them, and \`npx tws push --map\` stores tasks and flows.
- \`npx tws new schedule NAME --flow hello\` makes a file in \`couch/tws/schedules\`: it starts a job of
  that flow at times, once it is pushed.
- \`test\`: test cases of flows, which \`npx tws test\` runs with a clock of their own, without a database.
- \`plugins\`: what tasks do, one module each; \`tws dev\` loads them again when they change.
  \`npx tws new plugin NAME\` writes one, and \`npx tws list --plugins\` shows them.
- \`tws.json\`: settings. Credentials belong in COUCH_USER, COUCH_PASS and TWS_CRYPTO_KEY.
- \`npx tws logs JOB\` prints what its plugins have logged.
- \`npx tws explain JOB\` says why a job does not move, \`npx tws doctor\` what is wrong here.
`;
}
