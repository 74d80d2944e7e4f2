import { expect, it } from 'vitest';
import type { Change } from '../../src/store/change.js';
import type { Store } from '../../src/store/store.js';
import { createWork } from '../../src/testing/settling.js';

function gate() {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open: () => open() };
}

it('waits for the feed to tell what was written, also where it told so before the write was answered', async () => {
  const told = gate();
  const later = gate();
  const change = (rev: string): Change => ({ id: 'a', seq: rev, revs: [rev] }) as unknown as Change;
  const store = {
    write: async ({ _rev }: { readonly _rev: string }) => {
      if (_rev === '1-a') await told.passed;
      return { kind: 'written', rev: _rev };
    },
    follow: async function* () {
      yield change('1-a');
      told.open();
      await later.passed;
      yield change('2-a');
    },
  } as unknown as Store;
  const work = createWork(1_000);
  const watched = work.watched(store, () => undefined);
  const reading = (async () => {
    const seen: string[] = [];
    for await (const { seq } of watched.follow({} as never)) seen.push(String(seq));
    return seen;
  })();
  await watched.write({ _id: 'a', _rev: '1-a' });
  await work.settled();
  await watched.write({ _id: 'a', _rev: '2-a' });
  let isSettled = false;
  const settled = work.settled().then(() => (isSettled = true));
  await new Promise((next) => setImmediate(next));
  expect(isSettled).toBe(false);
  later.open();
  await settled;
  expect(await reading).toEqual(['1-a', '2-a']);
});
