import { expect, it, onTestFinished } from 'vitest';
import { couchKind, couchUrl } from '../support/couch.js';
import { describe, lastLine } from './main.js';
import { runChaos } from './run.js';
import { isClean } from './verdict.js';

it('three engines lose nothing and do nothing twice, whatever is done to them', async ({
  signal,
}) => {
  const seed = Math.floor(Math.random() * 1_000_000);
  const told: string[] = [`seed ${seed}`];
  const running = runChaos({
    engines: 3,
    jobs: 60,
    kills: 2,
    seed,
    ...(couchKind() === 'couchdb' ? { url: couchUrl() } : {}),
    say: (line) => told.push(line),
    signal,
  });
  // A test that is given up has ended all its processes too.
  onTestFinished(() => running.then(ignore, ignore), 90_000);
  const report = await running;
  const story = [...told, ...describe(report), lastLine(report)].join('\n');
  expect(isClean(report.verdict), story).toBe(true);
  expect(report.done.get('kill'), story).toBe(2);
});

const ignore = (): void => undefined;
