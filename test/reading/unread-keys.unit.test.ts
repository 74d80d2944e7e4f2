import { describe, expect, it } from 'vitest';
import { flowSchema, newJobSchema } from '../../src/reading/documents.js';
import { insteadOf, type KeyPlace } from '../../src/reading/foreign-keys.js';
import { retryPolicySchema } from '../../src/model/retry.js';
import { taskSchema } from '../../src/model/task.js';
import { unreadKeys } from '../../src/reading/unread-keys.js';
import { entryForms } from '../../src/structures/schema.js';
import { flow, task } from '../cli/terminal.js';

type Doc = Readonly<Record<string, unknown>>;

describe('unreadKeys', () => {
  it.each<readonly [string, object, string, string]>([
    ['a task', task('a', { timout: 5 }), 'timout', 'timeout'],
    ['a retry policy', task('a', { retry: { limt: 3 } }), 'retry.limt', 'limit'],
    ['a flow', flow('f', [], { timeout_mod: 'hard' }), 'timeout_mod', 'timeout_mode'],
    ['an entry', flow('f', [{ task: 'a', wen: 'true' }]), 'tasks.sequence[0].wen', 'when'],
    [
      'an entry of a list in a list',
      { ...flow('f', []), tasks: ['a', [{ task: 'b', parms: {} }]] },
      'tasks[1][0].parms',
      'params',
    ],
    [
      'the retry policy of an entry',
      flow('f', [{ task: 'a', retry: { limit: 1, dealy: 5 } }]),
      'tasks.sequence[0].retry.dealy',
      'delay',
    ],
    [
      'the handler of a flow',
      flow('f', [], { error: { name: 'a', parms: {} } }),
      'error.parms',
      'params',
    ],
    [
      'the cancel branch',
      flow('f', [], { cancel: { task: 'a', prams: {} } }),
      'cancel.prams',
      'params',
    ],
    [
      'the default of a choice that was left out',
      { ...flow('f', []), tasks: { default: { task: 'a', wen: '1' } } },
      'tasks.default.wen',
      'when',
    ],
    ['a job', { type: 'job', flow: 'f', execAfter: 1 }, 'execAfter', 'exec_after'],
    [
      'the tasks of a job',
      { type: 'job', tasks: [{ tsk: 'a', task: 'a', whn: '1' }] },
      'tasks[0].whn',
      'when',
    ],
  ])('tells a mistyped key of %s, and which one is meant', (_title, doc, path, meant) => {
    const found = unreadKeys(doc as Doc);
    expect(found.map((one) => one.path)).toContain(path);
    const { message } = found.find((one) => one.path === path) ?? { message: '' };
    expect(message).toContain(`did you mean "${meant}"?`);
  });

  it.each<readonly [string, object]>([
    [
      "keys of one's own",
      task('a', { note: 'mine', team: 'us', x_ref: 7, $schema: 's', _id: 'i' }),
    ],
    ['a key beside the one it is like', task('a', { timeout: 5, timeouts: 6 })],
    ['parameters', task('a', { params: { timout: 5, retry: { limt: 1 } } })],
    ['a schema', task('a', { schema: { typ: 'object' } })],
    ['what the user keeps in keys', { type: 'job', flow: 'f', keys: { flw: 1 } }],
    ['another type', { type: 'note', timout: 1 }],
  ])('leaves %s alone', (_title, doc) => {
    expect(unreadKeys(doc as Doc)).toEqual([]);
  });
});

describe('keys that look like a feature', () => {
  const entry = (fields: object) => flow('f', [{ task: 'a', ...fields }]);
  const job = (fields: object) => ({ type: 'job', flow: 'f', ...fields });
  it.each<readonly [string, object, string, string]>([
    ['catch in a flow', flow('f', [], { catch: 'b' }), 'catch', '"error"'],
    ['rescue in an entry', entry({ rescue: 'b' }), 'tasks.sequence[0].rescue', '"error"'],
    ['throttle in a task', task('a', { throttle: '5/s' }), 'throttle', '"rate" of a task'],
    ['rate in a job', job({ rate: { limit: 1, per: 1 } }), 'rate', 'belongs to a task'],
    ['cache_ttl in a task', task('a', { cache_ttl: 5 }), 'cache_ttl', '"cache"'],
    ['cache in a job', job({ cache: true }), 'cache', 'a task'],
    ['cron in a flow', flow('f', [], { cron: '* * * * *' }), 'cron', '"exec_after"'],
    ['cron in a job', job({ cron: '0 3 * * *' }), 'cron', 'type "schedule"'],
    ['retry_delay in a flow', flow('f', [], { retry_delay: 5 }), 'retry_delay', '"retry"'],
    ['parallelism in a flow', flow('f', [], { parallelism: 2 }), 'parallelism', '"max_running"'],
    ['parallelism in a task', task('a', { parallelism: 2 }), 'parallelism', '"slots"'],
    ['retention in a flow', flow('f', [], { retention: 5 }), 'retention', '"retain" of a flow'],
    ['retain in a job', job({ retain: { failed: {} } }), 'retain', '"retain" of a flow'],
    [
      'maxAttempts in a policy',
      task('a', { retry: { maxAttempts: 3 } }),
      'retry.maxAttempts',
      '"limit"',
    ],
    ['labels in an entry', entry({ labels: ['gpu'] }), 'tasks.sequence[0].labels', 'a task'],
    [
      'depends_on in an entry',
      entry({ depends_on: ['b'] }),
      'tasks.sequence[0].depends_on',
      '"after"',
    ],
    ['timeout in a job', job({ timeout: 5 }), 'timeout', 'a flow'],
    ['retry in a new job', job({ retry: 3 }), 'retry', 'a flow'],
    ['exec_after in a flow', flow('f', [], { exec_after: 5 }), 'exec_after', 'a job'],
    [
      'concurrency in a map',
      { ...flow('f', []), tasks: { map: { over: [1], do: 'a', concurrency: 2 } } },
      'tasks.map.concurrency',
      '"limit"',
    ],
    [
      'a limit of a map that is too high',
      { ...flow('f', []), tasks: { map: { over: [1], do: 'a', limit: 1_000_000 } } },
      'tasks.map.limit',
      '1000000, of which only a part counts: a map works on 1000 items at a time',
    ],
  ])('%s is told once, with what to use instead', (_title, doc, path, part) => {
    const found = unreadKeys(doc as Doc);
    expect(found.map((one) => one.path)).toEqual([path]);
    expect(found[0]?.message).toContain(part);
  });

  it.each<readonly [string, object]>([
    ['parameters', task('a', { params: { cron: 1, cache: 1 } })],
    ['data of a job', job({ data: { catch: 1 }, keys: { rate: 1 } })],
    ["keys of one's own", job({ custom: 1, note: 'n', constructor: 1, toString: 2 })],
    ['the limit of a retry', task('a', { retry: { limit: 5_000 } })],
    [
      'a limit that counts',
      { ...flow('f', []), tasks: { map: { over: [1], do: 'a', limit: 1_000 } } },
    ],
    ['the names of nodes', { ...flow('f', []), tasks: { graph: { cache: 'a', catch: 'b' } } }],
    ['headers of a webhook', job({ notify: [{ url: 'http://h', headers: { cache: 'no' } }] })],
  ])('are left alone in %s', (_title, doc) => {
    expect(unreadKeys(doc as Doc)).toEqual([]);
  });

  it.each<readonly [KeyPlace, readonly string[]]>([
    ['task', Object.keys(taskSchema.shape)],
    ['flow', Object.keys(flowSchema.shape)],
    ['job', Object.keys(newJobSchema.shape)],
    ['node', ['task', 'name', 'when', 'params', 'retry', 'timeout', 'error', 'undo', 'after']],
    ['node', Object.keys(entryForms.task.shape)],
    ['retry', Object.keys(retryPolicySchema.shape)],
  ])('are none that is read in a %s', (place, keys) => {
    expect(keys.filter((key) => insteadOf(key, place) !== undefined)).toEqual([]);
  });

  it('are looked for within bounds', () => {
    const many = Array.from({ length: 50 }, () => ({ task: 'a', cache: true }));
    expect(unreadKeys(flow('f', many) as Doc)).toHaveLength(50);
    expect(unreadKeys(flow('f', many) as Doc, { most: 22 }).length).toBeLessThan(12);
  });
});
