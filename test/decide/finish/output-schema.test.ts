import { describe, expect, it } from 'vitest';
import { BigResult } from '../../../src/model/big-result.js';
import { task } from '../../support/builders.js';
import { endings, story, type Story } from '../story.js';

const schema = {
  type: 'object',
  required: ['n'],
  properties: { n: { type: 'integer' }, m: {}, o: {}, p: {} },
};
const checked = (more: object = {}, flow: object = {}): Story => {
  const told = story({
    steps: ['a'],
    tasks: [task('a', { output_schema: schema, ...more })],
    flow,
  });
  told.go();
  return told;
};

describe('the result of a step', () => {
  it('goes on when it suits the output_schema of its task', () => {
    expect(checked().did('a', { n: 1 }).ending).toEqual(endings.well);
  });

  it('fails the step by its policy when it does not, with paths and without values', () => {
    const told = checked({ retry: 1 }).did('a', { n: 'secret {{x}}' });
    expect(told.running).toEqual(['a']);
    told.did('a');
    expect(told.job).toMatchObject({
      exit: 2,
      failure: {
        name: 'ResultUnfit',
        message: 'The result does not suit the "output_schema" of task "a": result must be object.',
      },
      steps: [
        {
          failure: {
            message:
              'The result does not suit the "output_schema" of task "a": result.n must be integer.',
          },
        },
        {},
      ],
    });
    expect(JSON.stringify(told.job)).not.toContain('secret');
  });

  it('says how many more things are wrong with it', () => {
    const wanted = { type: 'object', required: ['a', 'b', 'c', 'd', 'e'] };
    const told = checked({ output_schema: wanted }).did('a', {});
    expect(told.job).toMatchObject({
      failure: {
        message: expect.stringMatching(/result\.c is missing \(and 2 more\)\.$/) as string,
      },
    });
  });

  it('is not looked at when the plugin set an exit', () => {
    const told = checked();
    told.done('x', 7);
    expect(told.ending).toMatchObject({ exit: 7, failure: 'ExitSet' });
  });

  it('is looked at when a worker brings it', () => {
    const told = checked();
    told.end({ kind: 'wait', signal: 's' });
    told.signal('s', { n: 'x' });
    expect(told.ending).toMatchObject({ exit: 2, failure: 'ResultUnfit' });
    const good = checked();
    good.end({ kind: 'wait', signal: 's' });
    expect(good.signal('s', { n: 1 }).ending).toEqual(endings.well);
  });

  it.each([
    [{ n: 'x' }, 'ResultUnfit'],
    [{ n: 1 }, undefined],
  ])('is looked at where a long answer of a worker is kept: %j', (value, failure) => {
    const name = 'result-0-1.json';
    const data = { $attachment: name, bytes: 100_000 };
    const answered = (): Story => {
      const told = checked();
      told.end({ kind: 'wait', signal: 's' });
      return told.write({ signals: [{ id: 'x', name: 's', at: told.now, data }] });
    };
    expect(answered().decide()).toMatchObject({ kind: 'look_up', attachments: [name] });
    const stored = answered().with({ contents: { [name]: value } });
    stored.go();
    expect(stored.ending.failure).toBe(failure);
    const coming = answered();
    const attached = { data: new BigResult(value, 100_000) };
    coming.write({ _attachments: { [name]: attached } }).go();
    expect(coming.ending.failure).toBe(failure);
    if (failure === undefined) expect(stored.steps[0]).toMatchObject({ result: data });
  });

  it('must not be too large to be checked', () => {
    const large = Array.from({ length: 50_001 }, () => 1);
    expect(checked().did('a', large).job).toMatchObject({
      failure: {
        name: 'ResultUnfit',
        message: expect.stringContaining('result has more than 50000 values; keep') as string,
      },
    });
    const told = story({ steps: ['a'], tasks: [task('a')] });
    told.go();
    expect(told.did('a', large).ending).toEqual(endings.well);
  });

  it.each([
    [{ result: { n: 'x' } }, undefined, 'ResultUnfit'],
    [{ result: { n: 1 } }, undefined, undefined],
    [{ result: 'left out' }, { n: 'x' }, 'ResultUnfit'],
    [{ result: 'left out' }, { n: 1 }, undefined],
  ])('is looked at when a child job ends with it: %j', (ended, big, failure) => {
    const told = checked({ flow: 'inner' });
    const job = {
      _id: 'j:0:1',
      type: 'job',
      state: '$$complete',
      exit: 0,
      end: told.now,
      ...ended,
    };
    const held = big === undefined ? {} : { big: new BigResult(big, 100_000) };
    told.with({ children: { 'j:0:1': { kind: 'final', job, ...held } } as never }).go();
    expect(told.ending.failure).toBe(failure);
  });

  it('ends the job with exit 3 when the stored schema is none', () => {
    const told = checked({ output_schema: { type: 'nonsense' } });
    expect(told.job).toMatchObject({
      exit: 3,
      failure: {
        name: 'SchemaInvalid',
        message: expect.stringContaining('The "output_schema" of task "a"') as string,
      },
    });
  });

  it('fails with exit 3 when the schema was made none meanwhile', () => {
    const told = checked();
    const definitions = { a: task('a', { output_schema: { type: 'nonsense' } }) };
    told.write({ definitions }).did('a', { n: 1 });
    expect(told.ending).toMatchObject({ exit: 3, failure: 'SchemaInvalid' });
  });
});

describe('the result of a job', () => {
  const flow = { output_schema: schema };

  it('is its output, and null without one', () => {
    expect(checked({}, flow).did('a', { n: 1 }).ending).toMatchObject({
      exit: 3,
      failure: 'ResultUnfit',
    });
    const told = checked({}, { ...flow, output: 'x' }).answering({ output: { n: 2 } });
    expect(told.did('a', { n: 1 }).job).toMatchObject({ exit: 0, result: { n: 2 } });
  });

  it('is that of what finishes it', () => {
    const ends = (result: unknown): unknown => {
      const told = story({ steps: [{ finish: { result } }], flow });
      told.go();
      return told.ending.failure;
    };
    expect([ends({ n: 1 }), ends({ n: 'x' })]).toEqual([undefined, 'ResultUnfit']);
  });

  it('cannot suit a schema that is none', () => {
    const told = checked({}, { output_schema: { type: 'nonsense' } });
    expect(told.ending).toMatchObject({ exit: 3, failure: 'SchemaInvalid' });
  });
});
