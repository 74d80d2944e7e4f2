import { describe, expect, it } from 'vitest';
import { task } from '../../support/builders.js';
import { story } from '../story.js';

const schema = {
  type: 'object',
  required: ['n'],
  properties: {
    n: { type: 'number' },
    name: { type: 'string', minLength: 1 },
    format: { enum: ['csv', 'json'] },
  },
};

describe('the schema of a flow', () => {
  // Shows.
  it.each<[string, object, [string, unknown]]>([
    ['a parameter of another type', { n: 'many' }, ['params.n', 'params.n must be number.']],
    ['a missing parameter', {}, ['params.n', 'params.n is missing.']],
    [
      'an option with a value that is not allowed',
      { n: 1, format: 'xml' },
      ['params.format', expect.stringContaining('params.format must be')],
    ],
    ['an empty text', { n: 1, name: '' }, ['params.name', expect.stringContaining('fewer than 1')]],
  ])('ends a job before its first step for %s', (_title, params, [path, message]) => {
    const told = story({ steps: ['a'], flow: { schema }, job: { params: { ...params } } });
    expect(told.go().kind).toBe('write');
    expect(told.ending).toEqual({ state: '$$complete', exit: 3, failure: 'ParamsUnfit' });
    expect(told.job).toMatchObject({ steps: [], problems: [{ path, message }] });
    expect(told.job).toHaveProperty(
      'failure.message',
      expect.stringContaining('the "schema" of flow "f": params.'),
    );
  });

  it('names a few problems in the sentence and all of them in the list', () => {
    const required = ['a', 'b', 'c', 'd', 'e'];
    const told = story({ steps: ['a'], flow: { schema: { required } } });
    told.go();
    expect(told.job).toHaveProperty('problems.length', 5);
    expect(told.job).toHaveProperty(
      'failure.message',
      'The job\'s parameters do not suit the "schema" of flow "f": params.a is missing; params.b is missing; params.c is missing (and 2 more).',
    );
  });

  it('lets a job begin whose parameters suit, by themselves or with those of the flow', () => {
    const own = story({ steps: ['a'], flow: { schema }, job: { params: { n: 1 } } });
    expect(own.go().kind).toBe('claim');
    const params = { n: 7, 'a-0': { m: '{{job.params.n}}' } };
    const given = story({ steps: ['a'], flow: { schema, params } });
    expect(given.go().kind).toBe('claim');
    expect(given.live.params).toEqual({ m: 7 });
    expect(given.job).not.toHaveProperty('problems');
  });

  it('takes nothing of the flow that it does not declare', () => {
    const told = story({ steps: ['a'], flow: { schema: {}, params: { n: 7 } } });
    told.go();
    expect(told.job['params']).not.toHaveProperty('n');
  });

  it('ends the job when it is no schema itself', () => {
    const told = story({ steps: ['a'], flow: { schema: { type: 'nonsense' } } });
    told.go();
    expect(told.ending).toEqual({ state: '$$complete', exit: 3, failure: 'SchemaInvalid' });
  });

  it('is checked anew when a job goes on with the latest definitions', () => {
    const told = story({ steps: ['a'], flow: { params: { n: 1 }, schema } });
    told.go();
    told.fail();
    const params = { n: 2 };
    told.with({ flows: [{ ...told.flow, params }] });
    told.edit({ retry: { latest: true } }).go();
    told.go();
    expect(told.job).toMatchObject({ params });
    told.fail();
    const other = { required: ['n', 'more'] };
    told.with({ flows: [{ ...told.flow, params, schema: other }] });
    told.edit({ retry: { latest: true } }).go();
    told.go();
    expect(told.ending).toEqual({ state: '$$complete', exit: 3, failure: 'ParamsUnfit' });
  });
});

describe('the schema of a task', () => {
  it('fails the step without a retry when its filled-in parameters do not suit', () => {
    const told = story({
      steps: ['a', { task: 'b', params: { n: '{{results.a}}' }, retry: 5 }],
      tasks: [task('b', { schema })],
    });
    told.go();
    told.done('seven');
    expect(told.trail).toEqual(['a#1 $$complete', 'b#1 $$error']);
    expect(told.ending).toEqual({ state: '$$complete', exit: 3, failure: 'ParamsUnfit' });
    expect(told.last).toMatchObject({
      exit: 3,
      failure: {
        message:
          'The step\'s parameters do not suit the "schema" of task "b": params.n must be number.',
      },
    });
  });

  it('lets a step begin whose filled-in parameters suit', () => {
    const told = story({
      steps: ['a', { task: 'b', params: { n: '{{results.a}}' } }],
      tasks: [task('b', { schema })],
    });
    told.go();
    told.done(7);
    expect(told.live).toMatchObject({ task: 'b', params: { n: 7 } });
  });

  it('is handled by the error handler of the task as any failure', () => {
    const told = story({ steps: ['a'], tasks: [task('a', { schema, error: 'h' })] });
    told.go();
    expect(told.live).toMatchObject({ task: 'h' });
  });

  it('ends the job before its first step when it is no schema itself', () => {
    const broken = task('b', { schema: { properties: { x: { pattern: '(' } } } });
    const told = story({ steps: ['a', 'b'], tasks: [task('a', { schema: {} }), broken] });
    told.go();
    expect(told.ending).toEqual({ state: '$$complete', exit: 3, failure: 'SchemaInvalid' });
    expect(told.job).toMatchObject({
      steps: [],
      failure: { message: expect.stringContaining('of task "b"') as string },
    });
  });
});
