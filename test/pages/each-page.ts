import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { auditOf, openPage, shoot, type PageOptions } from './browser.js';

/** A page: its name in screenshots, its path, and what is there when it is complete. */
export type PageToSee = readonly [name: string, path: string, ready: (page: Page) => Promise<void>];

/** A look: its name in screenshots, and how the browser is set up. */
export type Look = readonly [name: string, options: PageOptions];

/** Both themes on a desk and on a phone. */
export const desksAndPhones: readonly Look[] = [
  ['light', { theme: 'light', width: 1440 }],
  ['dark', { theme: 'dark', width: 1440 }],
  ['phone', { theme: 'light', width: 390, height: 844 }],
  ['phone-dark', { theme: 'dark', width: 390, height: 844 }],
];

/**
 * Opens each page in each look and takes a screenshot: none has a serious problem of accessibility, but
 * for those that `isMeant`, and none is wider than its window.
 */
export async function expectGoodPages(
  url: string,
  pages: readonly PageToSee[],
  looks: readonly Look[],
  isMeant: (problem: string) => boolean = () => false,
): Promise<void> {
  for (const [look, options] of looks) {
    const page = await openPage(url, '/', options);
    for (const [name, path, ready] of pages) {
      await page.goto(`${url}/_tws/admin${path}`);
      await ready(page);
      await shoot(page, `${name}-${look}`);
      const problems = (await auditOf(page)).filter((one) => !isMeant(one));
      const wide = await page.evaluate<number>(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      );
      expect({ name, look, problems, wide }).toEqual({ name, look, problems: [], wide: 0 });
    }
  }
}
