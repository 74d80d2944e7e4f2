import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { createClient, inspectServer } from '../src/client.js';
import type { Log } from '../src/engine/log.js';
import { startHttp } from '../src/http/server.js';
import type { Connection } from '../src/store/connection.js';
import { openStore } from '../src/store/store.js';
import type { Bench } from './bench.js';
import { percentile, type Say } from './figure.js';
import {
  openList,
  scrollToEnd,
  showList,
  startBrowser,
  watchFrames,
  type Smoothness,
} from './pages-browser.js';
import { keepChanging, storeEnded } from './pages-jobs.js';

const rounds = 7;
const perSecond = 200;
const liveMs = 5_000;

/**
 * The list of jobs in a real browser: until its first page is shown, while somebody scrolls through
 * all of it, and while jobs change.
 */
export async function pages({ server, options, say }: Bench): Promise<void> {
  const connection = await server.database('project');
  await storeEnded(connection, options.listed);
  const api = await serve(connection);
  const browser = await startBrowser();
  try {
    await firstPage(api.url, browser, { jobs: options.listed, say });
    await scrolling(api.url, browser, { jobs: options.listed, say });
    await changing(api.url, browser, { connection, jobs: options.listed, say });
  } finally {
    await browser.close();
    await api.close();
    await server.remove(connection);
  }
}

type About = { readonly jobs: number; readonly say: Say };

async function firstPage(url: string, browser: Browser, { jobs, say }: About): Promise<void> {
  const list = `${url}/_tws/jobs?limit=100`;
  const conditions = { jobs };
  say({ figure: 'building the index', value: await timeOf(list), unit: 'ms', ...conditions });
  const answers: number[] = [];
  const counts: number[] = [];
  const shown: number[] = [];
  const shownAgain: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    answers.push(await timeOf(list));
    counts.push(await timeOf(`${url}/_tws/stats`));
    const { page, shownMs } = await openList(browser, url);
    shown.push(shownMs);
    shownAgain.push(await showList(page, url));
    await page.context().close();
  }
  const tell = (figure: string, values: readonly number[]): void => {
    say({
      figure,
      value: percentile(values, 0.5),
      unit: 'ms',
      max: Math.max(...values),
      rounds,
      ...conditions,
    });
  };
  tell('first 100 jobs of the API', answers);
  tell('counts of the API', counts);
  tell('address to first jobs shown', shown);
  tell('address to first jobs shown again', shownAgain);
}

async function scrolling(url: string, browser: Browser, { jobs, say }: About): Promise<void> {
  const { page } = await openList(browser, url);
  const end = await watchFrames(page);
  const ms = await scrollToEnd(page, jobs);
  say({ figure: 'scrolling to the oldest', value: ms, unit: 'ms', jobs });
  tellSmoothness('while scrolling', await end(), { jobs, say });
  await page.context().close();
}

type Live = About & { readonly connection: Connection };

async function changing(url: string, browser: Browser, { connection, jobs, say }: Live) {
  const { page } = await openList(browser, url);
  await page.getByText('live', { exact: true }).first().waitFor();
  const changes = await keepChanging(connection, perSecond);
  await page.locator('[data-job^="live-"]').first().waitFor();
  const end = await watchFrames(page);
  await sleep(liveMs);
  const smooth = await end();
  const count = await changes.stop();
  say({ figure: 'changes written', value: count, unit: '', wanted: `${perSecond} a second` });
  tellSmoothness('while jobs change', smooth, { jobs, say });
  await page.context().close();
}

function tellSmoothness(when: string, smooth: Smoothness, { jobs, say }: About): void {
  const { longestFrame, frameP95, longestTask, blocked } = smooth;
  say({ figure: `longest frame ${when}`, value: longestFrame, unit: 'ms', p95: frameP95, jobs });
  say({ figure: `longest task ${when}`, value: longestTask, unit: 'ms', blocked, jobs });
}

async function timeOf(url: string): Promise<number> {
  const began = performance.now();
  const reply = await fetch(url);
  await reply.text();
  if (!reply.ok) throw new Error(`${url} answers ${reply.status}.`);
  return performance.now() - began;
}

const nothing = (): void => undefined;
const silent: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** The API of a database, in this process. */
async function serve(connection: Connection) {
  const store = openStore(connection);
  const api = await startHttp({
    client: createClient({ store }),
    inspect: () => inspectServer(connection),
    settings: { port: 0 },
    root: '.',
    log: silent,
    version: '0',
  });
  return {
    url: api.url,
    close: async () => {
      await api.close();
      await store.close();
    },
  };
}
