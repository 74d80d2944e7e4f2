import { expect, inject, it } from 'vitest';
import { describe, lastLine } from './main.js';
import { runChaos } from './run.js';
import { isClean } from './verdict.js';

it('three engines lose nothing and do nothing twice, whatever is done to them', async () => {
  const { kind, url } = inject('couch');
  const abort = new AbortController();
  const seed = Math.floor(Math.random() * 1_000_000);
  const told: string[] = [`seed ${seed}`];
  const report = await runChaos({
    engines: 3,
    jobs: 60,
    kills: 2,
    seed,
    ...(kind === 'couchdb' ? { url } : {}),
    say: (line) => told.push(line),
    signal: abort.signal,
  });
  const story = [...told, ...describe(report), lastLine(report)].join('\n');
  expect(isClean(report.verdict), story).toBe(true);
  expect(report.done.get('kill'), story).toBe(2);
}, 120_000);
