import { chromium, type Browser, type Page } from 'playwright-core';
import { findProgram } from './programs.js';

const args = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

/** Starts a browser that shows nothing. @throws Error when there is none */
export async function startBrowser(): Promise<Browser> {
  const executablePath = findProgram('chromium');
  if (executablePath === undefined) {
    throw new Error('There is no Chromium on the PATH: install it, or set CHROMIUM to its path.');
  }
  return chromium.launch({ executablePath, args });
}

/** How a page kept up while something went on, ms. */
export type Smoothness = {
  /** The longest time between two frames, and that which 95 % did not exceed. */
  readonly longestFrame: number;
  readonly frameP95: number;
  /** The longest time in which the page could not answer, and all such times over 50 ms together. */
  readonly longestTask: number;
  readonly blocked: number;
};

/** Begins to watch how smoothly a page goes; the answer ends it. */
export async function watchFrames(page: Page): Promise<() => Promise<Smoothness>> {
  await page.evaluate(`(() => {
    const watch = { gaps: [], tasks: [], on: true };
    let last = performance.now();
    const frame = (now) => {
      watch.gaps.push(now - last);
      last = now;
      if (watch.on) requestAnimationFrame(frame);
    };
    requestAnimationFrame((now) => { last = now; requestAnimationFrame(frame); });
    watch.observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) watch.tasks.push(duration);
    });
    watch.observer.observe({ entryTypes: ['longtask'] });
    window.twsWatch = watch;
  })()`);
  return () =>
    page.evaluate<Smoothness>(`(() => {
      const { gaps, tasks, observer } = window.twsWatch;
      window.twsWatch.on = false;
      observer.disconnect();
      const sorted = [...gaps].sort((a, b) => a - b);
      return {
        longestFrame: sorted.at(-1) ?? 0,
        frameP95: sorted[Math.floor(sorted.length * 0.95)] ?? 0,
        longestTask: Math.max(0, ...tasks),
        blocked: tasks.reduce((sum, one) => sum + one - 50, 0),
      };
    })()`);
}

/** Opens the list of jobs; answers the page and the ms from the address to the first job shown. */
export async function openList(
  browser: Browser,
  url: string,
): Promise<{ readonly page: Page; readonly shownMs: number }> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.addInitScript(`
    const look = new MutationObserver(() => {
      if (document.querySelector('[data-job]') === null) return;
      look.disconnect();
      requestAnimationFrame(() => {
        document.documentElement.dataset.shown = String(performance.now());
      });
    });
    look.observe(document, { childList: true, subtree: true });
  `);
  return { page, shownMs: await showList(page, url) };
}

/** Goes to the list of jobs; how long it takes until there are some, ms. */
export async function showList(page: Page, url: string): Promise<number> {
  await page.goto(`${url}/_tws/admin/jobs`);
  return Number(await page.locator('html[data-shown]').getAttribute('data-shown'));
}

/** Scrolls to the oldest of so many jobs as fast as the pages come; answers the ms that takes. */
export async function scrollToEnd(page: Page, jobs: number): Promise<number> {
  const began = performance.now();
  await page.evaluate(`new Promise((resolve) => {
    const box = document.querySelector('.rows');
    const step = () => {
      box.scrollTop = box.scrollHeight;
      const last = [...document.querySelectorAll('.rows [role=row]')].at(-1);
      const at = Number(last?.getAttribute('aria-rowindex') ?? 0) - 1;
      if (at >= ${jobs}) resolve(); else requestAnimationFrame(step);
    };
    step();
  })`);
  return performance.now() - began;
}
