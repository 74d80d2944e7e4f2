import { expect, it } from 'vitest';
import { keepRetention } from '../../src/cli/retention-run.js';
import type { SubjectRetention } from '../../src/cli/overdue-subjects.js';
import type { Client, PassResult } from '../../src/client.js';
import { problem } from '../../src/errors.js';

const state = { configured: false, problems: [], rules: [], toPurge: false, expired: 0 };

type Part = Pick<Client, 'readRetention' | 'retention'>;

/** Runs passes until this one, and resolves with the lines that were logged. */
async function passes(
  count: number,
  part: (pass: number) => Partial<Part>,
  more: Partial<Pick<Parameters<typeof keepRetention>[0], 'subjects' | 'checkClock'>> = {},
) {
  const over = new AbortController();
  const lines: string[] = [];
  const log = (level: string) => (_about: object, message: string) =>
    void lines.push(`${level}: ${message}`);
  let pass = 0;
  const readRetention: Part['readRetention'] = (usual) => {
    pass += 1;
    if (pass > count) over.abort();
    const { readRetention: read } = part(pass);
    return read?.(usual) ?? Promise.resolve({ ...state, configured: true });
  };
  const retention: Part['retention'] = (options) =>
    part(pass).retention?.(options) ?? Promise.resolve({ kind: 'early', next: Date.now() });
  await keepRetention({
    client: { readRetention, retention } as Client,
    usual: undefined,
    ...more,
    root: '.',
    log: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
    by: 'engine:a',
    signal: over.signal,
    everyMs: 1,
  });
  return lines;
}

const rows = [
  { flow: 'f', owner: 'me', status: 'failed' as const, removed: 2, kept: 1 },
  { flow: 'g', owner: 'me', status: 'failed' as const, removed: 1, kept: 0 },
];
const nothing = {
  ...{ configured: true, documents: 5, kept: [], problems: [], broken: false },
  ...{ archived: 0, failures: [] },
};
const done = (more: object): PassResult => ({
  ...{ kind: 'done', next: 0, expired: 0, purged: 0 },
  result: { ...nothing, rows, ...more },
});

it('tells once what cannot be followed', async () => {
  const problems = [{ flow: 'f::me', message: 'retain must be an object; it is 5.' }];
  const lines = await passes(3, () => ({
    readRetention: () => Promise.resolve({ ...state, problems }),
  }));
  expect(lines).toEqual([
    'warn: No job of flow f::me is removed: retain must be an object; it is 5.',
  ]);
});

it('makes no pass where nothing is configured', async () => {
  const lines = await passes(2, () => ({
    readRetention: () => Promise.resolve(state),
    retention: () => Promise.reject(new Error('There was a pass.')),
  }));
  expect(lines).toEqual([]);
});

it('makes passes where nothing is configured any more, until all is purged', async () => {
  let count = 0;
  await passes(3, (pass) => ({
    readRetention: () => Promise.resolve({ ...state, toPurge: pass < 3 }),
    retention: () => {
      count += 1;
      return Promise.resolve(done({ rows: [] }));
    },
  }));
  expect(count).toBe(2);
});

it('tells what a pass removed, and goes on after one that failed', async () => {
  const lines = await passes(3, (pass) => ({
    retention: () =>
      pass === 1
        ? Promise.reject(new Error('No luck'))
        : Promise.resolve(done(pass === 2 ? {} : { broken: true })),
  }));
  expect(lines).toEqual([
    'warn: Old jobs could not be removed: Error: No luck. It is tried again.',
    expect.stringMatching(/^info: Removed 3 old jobs in \d+ ms\.$/),
    expect.stringMatching(/^info: Removed 3 old jobs in \d+ ms; the next pass goes on\.$/),
  ]);
});

it('tells of an archive that takes no jobs', async () => {
  const failures = [
    { archive: 'folder a', job: 'a', message: 'The archive (folder a) fails: full.' },
  ];
  const lines = await passes(1, () => ({
    retention: () => Promise.resolve(done({ failures, rows: [] })),
  }));
  expect(lines[0]).toBe('warn: The archive (folder a) fails: full.');
});

it('tells why the database could not be compacted', async () => {
  const pass = { ...done({ rows: [] }), uncompacted: 'it is away' };
  const lines = await passes(1, () => ({ retention: () => Promise.resolve(pass) }));
  expect(lines.at(-1)).toBe('warn: The database could not be compacted: it is away');
});

it('ends while it waits', async () => {
  const over = new AbortController();
  const log = { debug: fail, info: fail, warn: fail, error: fail };
  const client = { readRetention: fail, retention: fail } as unknown as Client;
  const kept = keepRetention({
    ...{ client, usual: undefined, root: '.', log, by: 'a', signal: over.signal },
  });
  over.abort();
  await kept;
});

function fail(): never {
  throw new Error('It did something.');
}

it('SR2: makes no pass by a clock that is far ahead, and tells that once until it was right', async () => {
  const ahead = 'The clock of this machine is 2 days ahead of that of the database server';
  const clocks = [true, true, false, true];
  const lines = await passes(4, () => ({ retention: () => Promise.resolve(done({})) }), {
    checkClock: () =>
      clocks.shift() === true
        ? Promise.reject(problem('clock_ahead', { ahead: '2 days' }))
        : Promise.resolve(),
  });
  expect(lines).toEqual([
    `warn: ${ahead}: nothing is removed by its age.`,
    expect.stringMatching(/^info: Removed 3 old jobs/),
    `warn: ${ahead}: nothing is removed by its age.`,
  ]);
});

// Shows M-04.
it('makes a pass where nothing but the time of sensitive values is over, and only the pass that runs purges', async () => {
  const purged: string[] = [];
  let pass = 0;
  const subjects: SubjectRetention = {
    due: () => Promise.resolve(pass > 1 ? 2 : 0),
    purge: (by) => {
      purged.push(by);
      const left = { destroyed: 1, left: 1, problem: 'It is refused.' };
      return Promise.resolve(purged.length === 1 ? { destroyed: 2, left: 0 } : left);
    },
  };
  const lines = await passes(
    4,
    (at) => {
      pass = at;
      const early: PassResult = { kind: 'early', next: Date.now() };
      return {
        readRetention: () => Promise.resolve(state),
        retention: () => Promise.resolve(at === 2 ? early : done({ rows: [] })),
      };
    },
    { subjects },
  );
  expect(purged).toEqual(['engine:a', 'engine:a']);
  expect(lines.filter((line) => /subject/.test(line))).toEqual([
    'info: Destroyed the keys of 2 subjects whose sensitive values are past their time.',
    'info: Destroyed the keys of 1 subject whose sensitive values are past their time.',
    'warn: Sensitive values of 1 subject that are past their time could not be purged: It is refused.',
  ]);
});
