import { describe, expect, it } from 'vitest';
import type { JobFeedEvent, JobHub } from '../../src/http/feed/hub.js';
import { workLine, type PlaceInWorkLine } from '../../src/http/ojs/work-line.js';

/** A feed, and what says who was woken. */
function opened() {
  const listeners = new Set<(change: JobFeedEvent) => void>();
  const listens: string[] = [];
  let goOn = (): void => undefined;
  const hub = {
    onQueues: (heard: () => void) => void (goOn = heard),
    listen: async (one: (change: JobFeedEvent) => void) => {
      listens.push('begun');
      listeners.add(one);
      return Promise.resolve(() => {
        listens.push('ended');
        listeners.delete(one);
      });
    },
  } as unknown as JobHub;
  const woken: string[] = [];
  const join = (queues: readonly string[] = ['default'], isMeant = () => true, reach = 'all') =>
    workLine(hub).join({ queues, isMeant, reach });
  const wait = (name: string, place: PlaceInWorkLine): void =>
    void place.woken().then(() => woken.push(name));
  const offer = (queue: string): void => {
    const signal = `work/${queue}/100/0000000000000001/a`;
    const steps = [{ state: '$$waiting', path: '0', signal }];
    const job = { _id: 'j', _rev: '1-a', type: 'job', steps };
    for (const listener of listeners) listener({ kind: 'changed', seq: '1', job });
  };
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { join, wait, offer, turn, woken, listens, resumed: () => goOn() };
}

describe('the line of those who wait for work', () => {
  it('hears of work where one comes at the moment in which the last one leaves', async () => {
    const { join, wait, offer, turn, woken } = opened();
    const last = await join();
    last.leave(false);
    wait('next', await join());
    offer('default');
    await turn();
    expect(woken).toEqual(['next']);
  });

  it('has a job with work wake the first who may have it, and nobody else', async () => {
    const { join, wait, offer, turn, woken } = opened();
    wait('other queue', await join(['mail']));
    wait('not meant', await join(['default'], () => false));
    wait('first', await join());
    wait('second', await join());
    offer('default');
    await turn();
    expect(woken).toEqual(['first']);
    offer('default');
    await turn();
    expect(woken).toEqual(['first', 'second']);
  });

  it('has whoever found work, or went without looking, wake the next of a queue', async () => {
    const { join, wait, offer, turn, woken } = opened();
    const first = await join();
    wait('first', first);
    wait('other queue', await join(['mail']));
    wait('second', await join(['mail', 'default']));
    offer('default');
    await turn();
    first.leave(true);
    await turn();
    expect(woken).toEqual(['first', 'second']);
  });

  it('has whoever leaves work behind wake one of each sort, since it may be for either', async () => {
    const { join, wait, turn, woken } = opened();
    const first = await join(['mail', 'default']);
    wait('of another owner', await join(['default'], () => false, 'b'));
    wait('of another queue', await join(['mail']));
    wait('meant', await join());
    wait('the same', await join());
    first.leave(true);
    await turn();
    expect(woken).toEqual(['of another owner', 'of another queue', 'meant']);
  });

  it('wakes nobody for one who found nothing', async () => {
    const { join, wait, turn, woken } = opened();
    const first = await join();
    wait('second', await join());
    first.leave(false);
    await turn();
    expect(woken).toEqual([]);
  });

  it('has whoever looked when work came look again', async () => {
    const { join, wait, offer, turn, woken } = opened();
    const place = await join();
    offer('default');
    wait('again', place);
    await turn();
    expect(woken).toEqual(['again']);
  });

  it('has the next look when one leaves who was looking when work came', async () => {
    const { join, wait, offer, turn, woken } = opened();
    const looking = await join();
    offer('default');
    wait('next', await join());
    looking.leave(false);
    await turn();
    expect(woken).toEqual(['next']);
  });

  it('listens once for all, until the last has left', async () => {
    const { join, turn, listens } = opened();
    const places = await Promise.all([join(), join()]);
    expect(listens).toEqual(['begun']);
    places.forEach((place) => place.leave(false));
    await turn();
    expect(listens).toEqual(['begun', 'ended']);
    (await join()).leave(false);
    await turn();
    expect(listens).toEqual(['begun', 'ended', 'begun', 'ended']);
  });

  it('wakes one of each sort when something else is wanted of a queue', async () => {
    const { join, wait, turn, woken, resumed } = opened();
    wait('first', await join());
    wait('second', await join());
    wait('other', await join(['mail']));
    resumed();
    await turn();
    expect(woken).toEqual(['first', 'other']);
  });
});
