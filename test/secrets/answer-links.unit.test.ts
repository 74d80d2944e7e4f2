import { describe, expect, it } from 'vitest';
import type { AnswerLinks, LinkPlace } from '../../src/model/answer-link.js';
import { openAnswerLinks } from '../../src/secrets/answer-links.js';

const place: LinkPlace = { job: 'Jöb 1', path: '0', attempt: 1, since: 5, for: 'ann', until: 9 };
const opened = async (key: string): Promise<AnswerLinks> => {
  const links = await openAnswerLinks(key);
  if (links === undefined) throw new Error('There is no key.');
  return links;
};

describe('links by which people answer', () => {
  it('are made of a key, and there are none without one', async () => {
    expect(await openAnswerLinks(undefined)).toBeUndefined();
    const links = await opened('key');
    const hash = links.hashOf(place);
    const token = links.tokenOf(place, hash) ?? '';
    const { job, code } = links.read(token) ?? { job: '', code: '' };
    expect([job, code.length, token.includes(hash)]).toEqual(['Jöb 1', 43, false]);
    expect(links.holds(code, place, hash)).toBe(true);
    expect(links.read(`${token}x`)).toBeUndefined();
    expect(links.read('')).toBeUndefined();
  });

  it.each<Partial<LinkPlace>>([
    { job: 'other' },
    { path: '1' },
    { attempt: 2 },
    { since: 6 },
    { for: 'bob' },
    { until: 10 },
  ])('are bound to %j', async (other) => {
    const links = await opened('key');
    const { code = '' } = links.read(links.tokenOf(place, links.hashOf(place)) ?? '') ?? {};
    const elsewhere = { ...place, ...other };
    expect(links.holds(code, elsewhere, links.hashOf(elsewhere))).toBe(false);
    expect(links.proves(links.proofOf(place, {}), elsewhere, {})).toBe(false);
  });

  it('stay good while the key that made them is in the list', async () => {
    const old = await opened('old');
    const hash = old.hashOf(place);
    const both = await opened('["new", "old"]');
    const token = both.tokenOf(place, hash);
    expect(token).toBe(old.tokenOf(place, hash));
    expect(both.holds(both.read(token ?? '')?.code ?? '', place, hash)).toBe(true);
    expect((await opened('new')).tokenOf(place, hash)).toBeUndefined();
  });

  it('prove an answer of just these data', async () => {
    const links = await opened('key');
    const proof = links.proofOf(place, { a: 1, b: [2] });
    expect(links.proves(proof, place, { b: [2], a: 1 })).toBe(true);
    expect(links.proves(proof, place, { a: 1 })).toBe(false);
    expect(links.proves(links.hashOf(place), place, { a: 1, b: [2] })).toBe(false);
    expect(links.proves(undefined, place, { a: 1, b: [2] })).toBe(false);
  });

  it('have a mark of their own in each notification', async () => {
    const links = await opened('key');
    expect(links.markOf('n1', 'h')).toMatch(/^tws:link:[\w-]{43}$/);
    expect(links.markOf('n2', 'h')).not.toBe(links.markOf('n1', 'h'));
  });
});
