import { describe, expect, it } from 'vitest';
import { jobTable } from '../../src/cli/job-table.js';
import { jobFacts } from '../../src/cli/jobs.js';
import type { StoredDocument } from '../../src/model/document.js';

const now = Date.parse('2026-11-21T10:00:00Z');
const plain = (_style: unknown, text: string): string => text;
const job = (more: object): StoredDocument => ({
  _id: 'id',
  _rev: '1-0',
  type: 'job',
  flow: 'greet',
  ...more,
});

const jobs = [
  job({ _id: 'late', exec_after: '2026-11-21T11:00:01Z' }),
  job({ _id: 'runs', state: 'a-0', start: now - 42_000, steps: [{ state: '$$active' }] }),
  job({
    _id: 'broke',
    flow: 'a-longer-name',
    owner: 'me',
    state: '$$complete',
    exit: 2,
    start: now - 7_200_000,
    end: now - 7_195_000,
    failure: { name: 'ConnectionRefused', message: 'No.' },
  }),
  job({ _id: 'odd', flow: 7, state: '$$complete', exit: 'x', start: 'never', failure: 'no' }),
];

describe('jobTable', () => {
  // Shows D-08.
  it('shows the status that a job has of its own', () => {
    const own = job({
      ...{ _id: 'own', custom_status: 'picking', state: 'a-0', start: now },
      steps: [{ state: '$$active' }],
    });
    const io = { style: plain, resultsOnTerminal: true } as const;
    expect(jobTable([own], now, io).at(-1)).toMatch(/^greet::DEFAULT +running \[picking\] +a-0/);
    expect(jobFacts(job({ custom_status: 7 }), now)).not.toHaveProperty('custom_status');
  });

  it('aligns its columns, with a head and times as seen from now on a terminal', () => {
    expect(jobTable(jobs, now, { style: plain, resultsOnTerminal: true })).toEqual([
      'FLOW               STATUS     STATE       STARTED   TOOK  FAILURE                     ID',
      'greet::DEFAULT     scheduled  new         in 1 h    -     -                           late',
      'greet::DEFAULT     running    a-0         42 s ago  42 s  -                           runs',
      'a-longer-name::me  failed     $$complete  2 h ago   5 s   ConnectionRefused (exit 2)  broke',
      '(inline)::DEFAULT  failed     $$complete  -         -     no name (exit ?)            odd',
    ]);
  });

  it('has a column for versions of flows where a job has one', () => {
    const versioned = [job({ _id: 'new', flow_version: 2 }), job({ _id: 'old' })];
    expect(jobTable(versioned, now, { style: plain, resultsOnTerminal: true })).toEqual([
      'FLOW            STATUS  STATE  STARTED  TOOK  FAILURE  VERSION  ID',
      'greet::DEFAULT  queued  new    -        -     -        2        new',
      'greet::DEFAULT  queued  new    -        -     -        -        old',
    ]);
  });

  it('says what kind of work a job of the Open Job Spec is, which has no flow', () => {
    const sent = job({ flow: undefined, ojs: { type: 'email.send' } });
    expect(jobFacts(sent, now).key).toBe('(email.send)::DEFAULT');
  });

  it('has no head and ISO 8601 for programs', () => {
    const [first, second] = jobTable(jobs, now, { style: plain, resultsOnTerminal: false });
    expect(first).toContain('  2026-11-21T11:00:01.000Z  ');
    expect(second).toContain('  2026-11-21T09:59:18.000Z  ');
  });

  it('shows when a job began that waits for something that may never come', () => {
    const waits = job({
      state: 'wait-0',
      start: now - 60_000,
      next_due: 4_320_000_000_000_000,
      steps: [{ state: '$$waiting' }],
    });
    expect(jobTable([waits], now, { style: plain, resultsOnTerminal: false })[0]).toContain(
      '  2026-11-21T09:59:00.000Z  ',
    );
    expect(jobFacts(waits, now)).not.toHaveProperty('due');
  });

  it('aligns also what is coloured', () => {
    const style = (name: string, text: string): string => `<${name}>${text}</>`;
    const lines = jobTable(jobs, now, { style, resultsOnTerminal: true });
    const bare = lines.map((line) => line.replace(/<.*?>/g, ''));
    expect(new Set(bare.map((line) => line.search(/\S+$/))).size).toBe(1);
  });

  it('is empty without jobs', () => {
    expect(jobTable([], now, { style: plain, resultsOnTerminal: true })).toEqual([]);
  });
});
