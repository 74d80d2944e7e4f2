import { describe, expect, it } from 'vitest';
import { checkContents } from '../../src/validate/contents.js';
import { unknownValue, pruned, relaxed } from '../../src/validate/partial-schema.js';
import { checkReferences } from '../../src/validate/references.js';
import { compileParams } from '../../src/plugin/params.js';
import type { PluginRegistry } from '../../src/plugin/loader.js';
import { encryptVersion1 as encrypt } from '../support/version1.js';
import { flow, task } from '../cli/terminal.js';

type Doc = Readonly<Record<string, unknown>>;

const schema = {
  type: 'object',
  required: ['to'],
  additionalProperties: true,
  properties: {
    to: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
    subject: { type: 'string' },
    pass: { type: 'string', maxLength: 8 },
    smtp: {
      type: 'object',
      required: ['host'],
      properties: { host: { type: 'string' }, port: { type: 'integer' } },
      additionalProperties: false,
    },
  },
};
const plugins = {
  get: (name: string) => {
    if (name === 'page') return { module: { templates: ['html'] } };
    return name === 'mail' ? { module: { params: schema } } : undefined;
  },
} as unknown as Pick<PluginRegistry, 'get'>;

async function notes(docs: Readonly<Record<string, object>>): Promise<string[]> {
  const files = Object.entries(docs).map(([file, doc]) => ({ file, doc: doc as Doc }));
  const { definitions } = await checkReferences(files, () => Promise.resolve([]));
  const found = checkContents(files, { definitions, plugins });
  return found.map(({ file, path, message }) => `${file} ${path} | ${message}`);
}

describe('results in templates and conditions', () => {
  const steps = ['greet', { task: 'greet', name: 'again', params: {} }];
  const flowWith = (more: object, last: object = {}): object =>
    flow('f', [...steps, { task: 'greet', name: 'last', ...last }], more);

  it.each<readonly [string, object, string, string]>([
    [
      'a template',
      flowWith({}, { params: { who: 'Hi {{results.gret.name}}' } }),
      'tasks.sequence[2].params.who',
      'results.gret, but no step of the flow has that name; did you mean "greet"?',
    ],
    [
      'a template that is one path',
      flowWith({}, { params: { who: '{{results.nobody}}' } }),
      'tasks.sequence[2].params.who',
      'results.nobody, but no step of the flow has that name; the steps are greet, again, last.',
    ],
    [
      'a helper',
      flowWith({ params: { greet: { x: '{{#if results.agian}}{{json results.greet}}{{/if}}' } } }),
      'params.greet.x',
      'did you mean "again"?',
    ],
    [
      'a way back to the root',
      flowWith({
        params: { greet: { x: '{{#each results.greet.rows}}{{@root.results.lst}}{{/each}}' } },
      }),
      'params.greet.x',
      'did you mean "last"?',
    ],
    [
      'a condition',
      flowWith({}, { when: '$count(results.gret.rows) > 0' }),
      'tasks.sequence[2].when',
      '"greet"',
    ],
    [
      'a guard',
      flowWith({}, { guards: ['results.`greet-7`'] }),
      'tasks.sequence[2].guards[0]',
      'greet-7',
    ],
    ['the output', flowWith({ output: { a: '$$.results.lats' } }), 'output.a', '"last"'],
  ])('are told in %s when no step has the name', async (_title, doc, path, sentence) => {
    const found = await notes({ f: doc });
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`f ${path} | `);
    expect(found[0]).toContain(sentence);
  });

  it.each<readonly [string, object]>([
    [
      'names and step keys of steps',
      flowWith(
        {},
        {
          when: 'results.greet and results.`greet-1`',
          params: { a: '{{results.[greet-0].x}} {{results.again.0.y}}' },
        },
      ),
    ],
    [
      'names inside what is gone through',
      flowWith({}, { params: { a: '{{#each results.greet}}{{results.own}}{{/each}}' } }),
    ],
    ['names within a path', flowWith({}, { when: 'results.greet.rows[results.own = 1]' })],
    [
      'other texts',
      flowWith({}, { params: { a: 'results.nobody', b: '{{params.results.nobody}}' } }),
    ],
    ['parent results', flowWith({}, { params: { a: '{{parent_results.0.x}}' } })],
    ['texts that cannot be read', flowWith({}, { params: { a: '{{results.' } })],
  ])('are left alone: %s', async (_title, doc) => {
    expect(await notes({ f: doc })).toEqual([]);
  });

  it('are told in the parameters of a job as well', async () => {
    const job = { type: 'job', flow: 'f', params: { 'greet-2': { who: '{{results.gret}}' } } };
    expect(await notes({ f: flowWith({}), job })).toEqual([
      expect.stringContaining('job params.greet-2.who | '),
    ]);
    const own = { type: 'job', tasks: ['a', { task: 'b', params: { x: '{{results.c}}' } }] };
    expect(await notes({ own })).toEqual([expect.stringContaining('own tasks[1].params.x | ')]);
  });
});

describe('the parameters of a job and the schema of its flow', () => {
  const whole = { required: ['n'], properties: { n: { type: 'number' } } };
  const job = (params?: object): object => ({
    type: 'job',
    flow: 'f',
    ...(params && { params }),
  });

  it('are compared before the job is stored', async () => {
    const docs = { f: flow('f', ['greet'], { schema: whole }) };
    expect(await notes({ ...docs, j: job({ n: 'x' }) })).toContain(
      'j params.n | params.n must be number: so the "schema" of flow "f" wants it.',
    );
    const absent = await notes({ ...docs, j: job() });
    expect(absent.some((line) => line.startsWith('j params.n | params.n is missing'))).toBe(true);
  });

  it('suit with what the flow itself gives', async () => {
    const docs = { f: flow('f', ['greet'], { schema: whole, params: { n: 1 } }) };
    const told = await notes({ ...docs, j: job({}) });
    expect(told.filter((line) => line.startsWith('j'))).toEqual([]);
  });
});

it.each([
  ['a job that asks for one', 'job', '1'],
  ['a job that asks for none', 'job', undefined],
  ['a schedule that asks for one', 'schedule', '1'],
])('the parameters of %s are compared with the version that it gets', async (_, type, version) => {
  const wants = (type: string) => ({ type: 'object', properties: { n: { type } } });
  const found = await notes({
    'greet.json': task('greet'),
    'f1.json': flow('f', ['greet'], { version: '1', schema: wants('string') }),
    'f2.json': flow('f', ['greet'], { version: '2', current: true, schema: wants('integer') }),
    'f0.json': flow('f', ['greet'], { version: '0', schema: wants('null') }),
    'it.json': {
      ...{ type, flow: 'f', owner: 'DEFAULT', params: { n: true } },
      ...(type === 'schedule' ? { name: 's', every: 60_000 } : {}),
      ...(version === undefined ? {} : { flow_version: version }),
    },
  });
  const wanted = version === '1' ? 'string' : 'integer';
  expect(found).toEqual([expect.stringMatching(new RegExp(`^it\\.json .* ${wanted}`))]);
});

describe('parameters and the schema of their plugin', () => {
  const mail = (params: object): object => task('mail', { plugin: 'mail', params });

  it.each<readonly [string, Readonly<Record<string, object>>, string, RegExp]>([
    ['a task', { t: mail({ smtp: { port: 'x' } }) }, 't params', /smtp\.port must be integer/],
    ['a wrong member of several forms', { t: mail({ to: 5 }) }, 't params', /to must be string/],
    ['a key too many', { t: mail({ smtp: { hots: 'x' } }) }, 't params', /smtp\.hots is not known/],
    ['a near miss', { t: mail({ subjct: 'x' }) }, 't params.subjct', /did you mean "subject"/],
    [
      'an entry of a flow',
      { t: mail({}), f: flow('f', [{ task: 'mail', params: { subject: 7 } }]) },
      'f tasks.sequence[0].params',
      /subject must be string/,
    ],
    [
      'the cancel branch',
      { t: mail({}), f: flow('f', ['mail'], { cancel: { task: 'mail', params: { subject: 7 } } }) },
      'f cancel.sequence[0].params',
      /subject must be string/,
    ],
    [
      'the parameters of a flow',
      { t: mail({}), f: flow('f', ['mail'], { params: { 'mail-0': { subject: [] } } }) },
      'f params.mail-0',
      /subject must be string/,
    ],
    [
      'a job',
      {
        t: mail({}),
        f: flow('f', ['mail']),
        j: { type: 'job', flow: 'f', params: { mail: { subject: 1 } } },
      },
      'j params.mail',
      /subject must be string/,
    ],
  ])('are told in %s', async (_title, docs, place, sentence) => {
    const found = await notes(docs);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`${place} | `);
    expect(found[0]).toMatch(sentence);
  });

  it.each<readonly [string, object]>([
    ['what is required may come from elsewhere', { smtp: { port: 25 } }],
    ['templates are not known yet', { smtp: { port: '{{results.a.port}}' }, to: ['{{x}}', 7] }],
    ['labels are asked for later', { smtp: { port: '[[port]]' } }],
    ['encrypted values are read later', { pass: { $enc: encrypt('a', 'k') }, subject: 'x' }],
    ['a name that a template uses', { subjct: 'x', html: '{{subjct}}' }],
  ])('leave alone: %s', async (_title, params) => {
    expect(await notes({ t: mail(params) })).toEqual([]);
  });

  it('are not asked of a plugin that is not here', async () => {
    expect(await notes({ t: task('a', { plugin: 'rare', params: { port: {} } }) })).toEqual([]);
  });
});

describe('templates of a step with too many tags together', () => {
  const texts = (count: number): object =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`t${i}`, '- {{job._id}}']));
  const mail = (params: object): object => task('mail', { plugin: 'mail', params });
  const more = /the templates of its parameters cannot be filled in: there are more than 200 tags/;

  it.each<readonly [string, Readonly<Record<string, object>>, string]>([
    ['a task', { t: mail(texts(201)) }, 't params'],
    [
      'a step with what its task has',
      { t: mail({ a: texts(101) }), f: flow('f', [{ task: 'mail', params: { b: texts(100) } }]) },
      'f tasks.sequence[0]',
    ],
    [
      'a handler',
      { t: mail({}), f: flow('f', [], { error: { name: 'mail', params: texts(201) } }) },
      'f error',
    ],
    [
      'the cancel branch',
      {
        t: mail({ a: texts(200) }),
        f: flow('f', [], { cancel: 'mail', params: { mail: texts(1) } }),
      },
      'f cancel.sequence[0]',
    ],
    [
      'a job of a flow',
      {
        t: mail({ a: texts(200) }),
        f: flow('f', ['mail']),
        j: { type: 'job', flow: 'f', params: { mail: texts(1) } },
      },
      'j params',
    ],
    [
      'a step that runs a flow',
      {
        t: { type: 'task', name: 'sub', flow: 'g' },
        g: flow('g', []),
        f: flow('f', [{ task: 'sub', params: texts(201) }]),
      },
      'f tasks.sequence[0]',
    ],
  ])('are told in %s', async (_title, docs, place) => {
    const found = await notes(docs);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`${place} | `);
    expect(found[0]).toMatch(more);
  });

  it.each<readonly [string, Readonly<Record<string, object>>]>([
    [
      'the flow replaces them',
      { t: mail({ a: texts(150) }), f: flow('f', [{ task: 'mail', params: { a: texts(150) } }]) },
    ],
    ['each is a path', { t: mail({ list: Array(300).fill('{{job._id}}') }) }],
    ['the plugin renders them by itself', { t: task('page', { params: { html: texts(201) } }) }],
    ['nobody here knows the plugin', { t: task('rare', { params: texts(201) }) }],
  ])('are left alone where %s', async (_title, docs) => {
    expect(await notes(docs)).toEqual([]);
  });
});

describe('texts of a step and of a notification with too many tags', () => {
  const many = '- {{job._id}} '.repeat(201);
  const fewer = '- {{job._id}} '.repeat(101);
  const tell = task('tell', { plugin: 'mail', params: { a: fewer } });
  const page = task('page');

  it.each<readonly [string, object, string]>([
    ['a delay', flow('f', [{ delay: many }]), 'tasks.sequence[0].delay'],
    ['a key', flow('f', [{ wait: { event: 'e', key: many } }]), 'tasks.sequence[0].wait.key'],
    ['a signal', flow('f', [{ wait: { signal: many } }]), 'tasks.sequence[0].wait.signal'],
    [
      'a cancel branch',
      flow('f', [], { cancel: { sequence: [{ delay: many }] } }),
      'cancel.sequence[0].delay',
    ],
    ['a long tag', flow('f', [{ delay: `- {{${'a'.repeat(2_001)}}}` }]), 'tasks.sequence[0].delay'],
    ['a job', { type: 'job', tasks: [{ delay: many }] }, 'tasks[0].delay'],
    ['a webhook', flow('f', [], { notify: [{ url: 'http://a.b', body: [many] }] }), 'notify[0]'],
    [
      'a task that is told, with what it has itself',
      flow('f', [], { notify: [{ url: 'http://a.b' }, { task: 'tell', params: { b: fewer } }] }),
      'notify[1]',
    ],
    [
      'the notification of a job',
      { type: 'job', tasks: [], notify: [{ task: 'tell', params: { b: fewer } }] },
      'notify[0]',
    ],
    [
      'the notification of a job of a stored flow',
      { type: 'job', flow: 'g', notify: [{ task: 'tell', params: { b: fewer } }] },
      'notify[0]',
    ],
  ])('are told in %s', async (_title, f, place) => {
    const found = await notes({ t: tell, p: page, g: flow('g', []), f });
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`f ${place} | ${place}: the templates `);
    expect(found[0]).toMatch(/more than 200 tags|longer than 2000/);
  });

  it.each<readonly [string, object]>([
    ['a path', flow('f', [{ delay: '{{params.ms}}' }, { wait: { event: 'e', key: fewer } }])],
    [
      'what the plugin renders',
      flow('f', [], { notify: [{ task: 'page', params: { html: many } }] }),
    ],
    ['what cannot be read', flow('f', [], { notify: 'all' })],
  ])('are left alone: %s', async (_title, f) => {
    expect(await notes({ t: tell, p: page, f })).toEqual([]);
  });
});

describe('parameters of a job', () => {
  const weather = flow('weather', [{ task: 'forecast', name: 'soon' }], {
    params: { unit: 'C' },
    output: { city: 'params.city' },
  });
  const docs = (params: object): Record<string, object> => ({
    t: task('forecast', { error: 'tell' }),
    f: weather,
    j: { type: 'job', flow: 'weather', params },
  });

  it('are told when they name no step and nothing reads them', async () => {
    expect(await notes(docs({ forcast: {} }))).toEqual([
      'j params.forcast | params.forcast names no step of flow "weather", and nothing in it reads {{job.params.forcast}}; did you mean "forecast"?',
    ]);
    expect(await notes(docs({ soon: {} }))).toEqual([
      expect.stringContaining('its steps are forecast, forecast-0.'),
    ]);
    const open = { ...weather, schema: { additionalProperties: true } };
    expect(await notes({ ...docs({ forcast: {} }), f: open })).toEqual([]);
    const unique = { key: ['forcast'] };
    const { j: job, ...rest } = docs({ forcast: {} });
    expect(await notes({ ...rest, j: { ...job, unique } })).toEqual([]);
  });

  it.each([
    ['a task', { forecast: {} }],
    ['a step key', { 'forecast-0': {} }],
    ['a handler', { tell: {} }],
    ['what the flow reads', { city: 'Bern' }],
    ['what the flow has, too', { unit: 'F' }],
    ['what other parameters read', { a: 1, forecast: { x: '{{job.params.a}}' } }],
  ])('are left alone for %s', async (_title, params) => {
    expect(await notes(docs(params))).toEqual([]);
  });

  it('are left alone where a decider or a child job may read them', async () => {
    const open = { type: 'job', tasks: [{ decider: 'd' }], params: { x: 1 } };
    expect(await notes({ j: open })).toEqual([]);
    const inline = { type: 'job', tasks: ['forecast'], params: { x: 1 } };
    expect((await notes({ t: task('forecast'), j: inline }))[0]).toContain('no step of the job');
  });
});

describe('names at the root of a condition', () => {
  const when = (text: string, more: object = {}): object =>
    flow('f', [{ task: 'a', when: text }], more);
  it.each([
    ['result.a.x > 0', '"result", which is never there; did you mean "results"?'],
    ['$count(rows) > 0', '"rows", which is never there; known are results, parent_results,'],
    ['results.a ? parms.b : 1', 'did you mean "params"?'],
  ])('are told when no job has them: %s', async (text, sentence) => {
    const [found] = await notes({ f: when(text) });
    expect(found).toContain('f tasks.sequence[0].when | tasks.sequence[0].when asks for ');
    expect(found).toContain(sentence);
  });

  it.each([
    ['results.a.rows[amount > 3]'],
    ['(results.a.rows)[amount > 3]'],
    ['$sum(results.a.rows.(price * count)) > params.limit and job.owner = step.name'],
    ['$filter(results.a, function($row) { $row.x })'],
    ['results.a.rows^(>price)[0].name = item.name'],
    ['results.a.rows{kind: $sum(price)}'],
    ['$$.results.a'],
    ['results.a ~> |rows|{"x": price}|'],
    ['parent_results[0].ok or round > index'],
  ])('are left alone in %s', async (text) => {
    expect(await notes({ f: when(text) })).toEqual([]);
  });

  it('may be the event in the match of a wait', async () => {
    const asks = (match: string) => flow('f', [{ wait: { event: 'e', match } }]);
    expect(await notes({ f: asks('event.data.n = params.n') })).toEqual([]);
    const [found] = await notes({ f: asks('evnt.data.n') });
    expect(found).toContain('asks for "evnt", which is never there; did you mean "event"?');
  });

  it('may be the data of a signal in the answer to it', async () => {
    const asks = (answer: string) => flow('f', [{ wait: { signal: 's', answer } }]);
    expect(await notes({ f: asks('{"n": data.n}') })).toEqual([]);
    const [found] = await notes({ f: asks('dat.n') });
    expect(found).toContain('asks for "dat", which is never there; did you mean "data"?');
  });

  it('may be what a branch of a catch sees', async () => {
    const read = { task: 'a', when: 'failure.exit = 2', params: { x: '{{results.none.message}}' } };
    const node = { task: 'a', catch: [{ do: read, as: 'none' }] };
    expect(await notes({ a: task('a'), f: flow('f', [node]) })).toEqual([]);
    const lost = await notes({ a: task('a'), f: flow('f', [{ ...node, catch: [{ do: read }] }]) });
    expect(lost).toEqual([expect.stringContaining('asks for results.none, but no step')]);
  });

  it('may be the name that a map gives', async () => {
    const map = { map: { over: 'params.list', as: 'row', do: { task: 'a', when: 'row.ok' } } };
    expect(await notes({ f: flow('f', [map]) })).toEqual([]);
  });
});

describe('relaxed', () => {
  it('accepts every part of what the whole accepts', () => {
    const whole = {
      type: 'object',
      required: ['a'],
      minProperties: 2,
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
      if: { required: ['a'] },
      then: { required: ['c'] },
      properties: { required: { type: 'string' }, list: { items: { required: ['x'] } } },
    };
    const check = compileParams(relaxed(whole) as Doc);
    expect(check({})).toEqual([]);
    expect(check({ list: [{}] })).toEqual([]);
    expect(check({ required: 7 })).toEqual(['required must be string']);
  });
});

describe('pruned', () => {
  it('leaves out what is open, and a list as a whole', () => {
    const isOpen = (value: unknown): boolean => value === '?';
    expect(pruned({ a: '?', b: { c: '?', d: 1 }, e: [1, '?'] }, isOpen)).toEqual({ b: { d: 1 } });
    expect(pruned('?', isOpen)).toBe(unknownValue);
  });
});

describe('the states of "unique"', () => {
  it.each([
    ['without "queued"', ['running', 'succeeded'], true],
    ['with "queued"', ['queued', 'running'], false],
    ['that are not valid', ['gone'], false],
  ])('%s are warned of in a flow and in a job: %j', async (_title, states, isWarned) => {
    const unique = { states };
    const found = await notes({
      flow: flow('f', ['t'], { unique }),
      job: { type: 'job', flow: 'f', owner: 'me', unique },
      task: task('t'),
    });
    const warned = found.filter((one) => one.includes('unique.states leaves out "queued"'));
    expect(warned.map((one) => one.split(' ')[0])).toEqual(isWarned ? ['flow', 'job'] : []);
  });
});
