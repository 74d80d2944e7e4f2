import { describe, expect, it } from 'vitest';
import { evaluate } from '../../../src/evaluate/expressions.js';
import { story } from '../story.js';

/** Runs a flow of one step, which gives `{n: 7}`, with its `output` evaluated for real. */
async function finished(output: string | Record<string, string>) {
  const told = story({ steps: ['a'], flow: { output }, job: { params: { a: { x: 1 } } } });
  told.go();
  let intent = told.done({ n: 7 });
  while (intent.kind === 'look_up') {
    for (const question of intent.questions) {
      const answer = await evaluate(question);
      told.with({ answers: { ...told.around.answers, [question.id]: answer } });
    }
    intent = told.go();
  }
  return told.job;
}

describe('a job whose steps are all done', () => {
  it('succeeds without a result when the flow has no output', () => {
    const told = story({ steps: ['a'] });
    told.go();
    told.done({ n: 7 });
    expect(told.ending).toEqual({ state: '$$complete', exit: 0, failure: undefined });
    expect(told.job).not.toHaveProperty('result');
  });

  // Shows A-06.
  it('succeeds at once when the flow is empty', () => {
    const told = story({ steps: [] });
    expect(told.go().kind).toBe('write');
    expect(told.ending).toEqual({ state: '$$complete', exit: 0, failure: undefined });
    expect(told.steps).toEqual([]);
    expect(told.revisions).toBe(1);
  });

  it('succeeds at once when the flow holds only empty sequences', () => {
    const told = story({ steps: [[], [[]]] });
    told.go();
    expect(told.ending).toMatchObject({ exit: 0 });
  });

  // Shows X-32.
  it.each([
    ['one expression', 'results.a.n + 1', 8],
    [
      'an expression per key',
      { sum: 'results.a.n + 1', x: 'params.a.x', j: 'job._id' },
      { sum: 8, x: 1, j: 'j' },
    ],
    ['no keys', {}, {}],
  ])('has the output as its result: %s', async (_title, output, result) => {
    expect(await finished(output)).toMatchObject({ state: '$$complete', exit: 0, result });
  });

  it('sees no parameters when they were taken out of the job', () => {
    const told = story({ steps: ['a'], flow: { output: 'params' } });
    told.go();
    told.edit({ params: undefined });
    expect(told.done()).toMatchObject({
      kind: 'look_up',
      questions: [{ context: { params: {} } }],
    });
  });

  it('has no result when the expression finds nothing', async () => {
    expect(await finished('results.zzz')).not.toHaveProperty('result');
  });

  it.each([
    ['output', '$error("no")'],
    ['output.sum', { x: '1', sum: '$error("no")' }],
  ])('fails with exit 3 when %s cannot be evaluated', async (at, output) => {
    expect(await finished(output)).toMatchObject({
      state: '$$complete',
      exit: 3,
      failure: { name: 'OutputError', message: expect.stringContaining(at) as string },
    });
  });
});
