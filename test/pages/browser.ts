import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeEach, expect, onTestFinished, vi } from 'vitest';
import { findProgram } from '../../bench/programs.js';
import { needPrograms } from '../support/programs.js';

const args = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

let running: Promise<Browser> | undefined;

/** One browser for all tests of a file. */
async function browser(): Promise<Browser> {
  running ??= chromium.launch({ executablePath: findProgram('chromium') ?? 'chromium', args });
  return running;
}

/** A browser takes long where other tests keep the machine busy, ms. */
const testMs = 300_000;

/**
 * To be called once in each file of tests that all use the browser: ends it after the last of them.
 * They are skipped on a machine without one.
 */
export function endBrowser(): void {
  vi.setConfig({ testTimeout: testMs });
  beforeEach(() => needPrograms('chromium'));
  afterAll(async () => {
    await (await running)?.close();
    running = undefined;
    vi.resetConfig();
  });
}

export type PageOptions = {
  readonly theme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
  /** false: the browser runs none. */
  readonly scripts?: boolean;
  /** Opens this address instead. */
  readonly at?: string;
  /** Mistakes that the browser tells of and that are meant to be. */
  readonly expected?: RegExp;
};

/**
 * Opens a page of the admin pages, `path` below `/_tws/admin`. The test fails when the page throws,
 * or when the browser has to refuse it something.
 */
export async function openPage(
  url: string,
  path: string,
  { theme = 'light', width = 1280, height = 900, expected, scripts = true, at }: PageOptions = {},
): Promise<Page> {
  const context = await (
    await browser()
  ).newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: 'reduce',
    locale: 'en-GB',
    javaScriptEnabled: scripts,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const mistakes: string[] = [];
  const note = (text: string): void => {
    if (expected?.test(text) !== true) mistakes.push(text);
  };
  page.on('pageerror', (error) => note(error.stack ?? error.message));
  page.on('console', (message) => {
    if (message.type() !== 'error' || isBusy(message.text())) return;
    note(`${message.text()} (${message.location().url})`);
  });
  onTestFinished(async () => {
    await context.close();
    expect(mistakes).toEqual([]);
  });
  await page.goto(at ?? `${url}/_tws/admin${path}`);
  return page;
}

/**
 * On a busy machine the database answers 503 while it builds its views. The pages show that and ask
 * again, but the browser logs every such answer as an error.
 */
function isBusy(text: string): boolean {
  return /^Failed to load resource: .* status of 503\b/.test(text);
}

/** Where pictures of the pages are kept, for whoever wants to look at them after a run. */
const screens = join(import.meta.dirname, '..', '..', 'coverage', 'screens');

/** Keeps a picture of a page. */
export async function shoot(page: Page, name: string): Promise<void> {
  await mkdir(screens, { recursive: true });
  await page.screenshot({ path: join(screens, `${name}.png`), fullPage: true });
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type Violation = {
  readonly id: string;
  readonly impact: string | null;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
};

/** The serious and critical problems of accessibility that axe finds on a page. */
export async function auditOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate<{ violations: readonly Violation[] }>(
    `axe.run(document, { resultTypes: ['violations'] })`,
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)}\n${failureSummary}`),
    );
}
