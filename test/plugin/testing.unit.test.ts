import { describe, expect, it } from 'vitest';
import type { PluginContext } from '../../src/plugin/api.js';
import { createTestContext, runTestAttempt } from '../../src/plugin/testing.js';

describe('createTestContext', () => {
  it('has what the test says, and keeps what the plugin says', () => {
    const { context, logged, progress, details, data, statuses } = createTestContext({
      params: { name: 'Ada', pass: 'hunter22' },
      results: { before: 1 },
      attempt: 2,
      lastDetails: { page: 3 },
      secrets: ['pass'],
    });
    expect(context.params.name).toBe('Ada');
    expect(context.results).toEqual({ before: 1 });
    expect(context.step).toMatchObject({ attempt: 2 });
    expect(context.lastDetails).toEqual({ page: 3 });
    expect(context.render('Hello {{params.name}}')).toBe('Hello Ada');
    context.log('with hunter22', { n: 1 });
    context.progress(0.5);
    context.heartbeat({ page: 4 });
    context.setData({ a: 1 });
    context.setStatus('half');
    expect(logged).toEqual([{ message: 'with [secret]', data: { n: 1 } }]);
    expect([progress, details, data]).toEqual([[0.5], [{ page: 4 }], { a: 1 }]);
    expect(statuses).toEqual(['half']);
  });

  it('answers sensitive values that the test gives, and hides them', async () => {
    const { context, logged } = createTestContext({ sensitive: { iban: 'DE02 1203' } });
    const { iban } = await context.sensitive('iban');
    expect(iban).toBe('DE02 1203');
    context.log(`to ${iban}`);
    expect(logged).toEqual([{ message: 'to [secret]' }]);
    await expect(context.sensitive('iban', 'name')).rejects.toMatchObject({
      ...{ name: 'SecretUnreadable', retryable: false, exit: 3 },
      message: expect.stringContaining('no sensitive value "name"') as string,
    });
    await expect(context.sensitive()).rejects.toThrow(/takes names of sensitive values/);
    await expect(createTestContext().context.sensitive('iban')).rejects.toMatchObject({
      name: 'SensitiveUnset',
    });
  });

  it('stops the attempt when the test says so', () => {
    const { context, stop } = createTestContext();
    stop('TimeoutError');
    expect(() => context.heartbeat()).toThrow(expect.objectContaining({ name: 'TimeoutError' }));
  });
});

describe('runTestAttempt', () => {
  const module = {
    params: { type: 'object', required: ['n'] },
    verify: () => ({ done: 'earlier' }),
    isolate: 'process',
    default: ({ params, wait, log }: PluginContext<{ n: number }>) => {
      log('called');
      if (params.n < 0) throw new RangeError('too small');
      return params.n === 0 ? wait('go') : params.n * 2;
    },
  };

  it.each([
    [{ params: { n: 2 } }, { kind: 'done', result: 4 }],
    [{ params: { n: 0 } }, { kind: 'wait', signal: 'go' }],
    [{ params: { n: -1 } }, { kind: 'failed', failure: { name: 'RangeError' } }],
    [{ params: {} }, { kind: 'failed', failure: { name: 'ParamsInvalid' } }],
    [
      { params: { n: 2 }, attempt: 2 },
      { kind: 'done', result: 'earlier' },
    ],
  ])('of %j is %j', async (given, expected) => {
    const { outcome } = await runTestAttempt(module, given);
    expect(outcome).toMatchObject(expected);
  });

  it('takes functions and older plugins, and refuses what is no plugin', async () => {
    const legacy = () => () => Promise.resolve('older');
    expect((await runTestAttempt(legacy)).outcome).toMatchObject({ result: 'older' });
    await expect(runTestAttempt({ x: 1 })).rejects.toThrow('This is no plugin: it exports no');
  });
});
