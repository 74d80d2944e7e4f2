import { describe, expect, it } from 'vitest';
import type { LinkPlace, LinkProofs } from '../../../src/model/answer-link.js';
import type { Child } from '../../../src/decide/world.js';
import type { WrittenNode } from '../../../src/structures/kind.js';
import { t0 } from '../../support/builders.js';
import { begun, type Setting, type Story } from '../story.js';

const free: Readonly<Record<string, Child>> = new Proxy({}, { get: () => ({ kind: 'absent' }) });
/** A key that everybody can follow. */
const nameOf = ({ job, path, attempt, since, for: user, until }: LinkPlace): string =>
  [job, path, attempt, since - t0, user, until - t0].join(' ');
const answerLinks: LinkProofs = {
  hashOf: (place) => `hash of ${nameOf(place)}`,
  markOf: (notification, hash) => `mark of ${notification} ${hash}`,
  proves: (proof, place, data) => proof === `${nameOf(place)} ${JSON.stringify(data)}`,
};
const day = 86_400_000;
const asked = (approve: Record<string, unknown>, more: Partial<Setting> = {}): Story => {
  const steps: WrittenNode[] = [{ name: 'sign', approve }, 'a'];
  return begun(steps, { ...more, world: { answerLinks, children: free, ...more.world } });
};
const linksIn = ({ steps: [step] }: Story): unknown =>
  (step?.['form'] as { readonly links?: unknown } | undefined)?.links;
const link = (user: string, until: number, since = 0) => ({
  for: user,
  hash: `hash of j 0 1 ${since} ${user} ${until}`,
  until: t0 + until,
});

describe('links by which people answer', () => {
  it.each([
    ['each user who is asked, for seven days', {}, 7 * day],
    ['until it is due', { due: 5_000 }, 5_000],
    ['as long as the entry says', { due: 5_000, link: 9_000 }, 9_000],
  ])('PF6: are made for %s', (_how, more, until) => {
    const told = asked({ assignee: ['ann', 'bob'], group: 'finance', ...more });
    expect(linksIn(told)).toEqual([link('ann', until), link('bob', until)]);
  });

  it.each([
    ['nobody is asked by name', { group: 'finance' }, {}],
    ['the entry wants none', { assignee: 'ann', link: false }, {}],
    ['nothing makes them', { assignee: 'ann' }, { answerLinks: undefined }],
  ])('PF6: are not made where %s', (_why, approve, around) => {
    expect(linksIn(asked(approve, { world: around }))).toBeUndefined();
  });

  it('PF6: are made for those who are asked as well later, when that is', () => {
    const escalate = { after: 2_000, assignee: ['eve', 'ann'] };
    const told = asked({ assignee: 'ann', due: 1_000, escalate });
    told.at(1_000).go();
    told.at(2_000).go();
    expect(linksIn(told)).toMatchObject([
      { for: 'ann' },
      { for: 'ann', until: t0 + 1_000 + 7 * day },
      { for: 'eve', until: t0 + 2_000 + 7 * day },
    ]);
    const none = asked({ group: 'finance', escalate: { after: 2_000, group: 'heads' } });
    none.at(2_000).go();
    expect(linksIn(none)).toBeUndefined();
  });

  it('PF6: are made anew when something is told and the former are over', () => {
    const told = asked({ assignee: 'ann', due: 5_000, remind: [500, 2_000], link: 1_000 });
    told.at(500).go();
    expect(linksIn(told)).toEqual([link('ann', 1_000)]);
    told.at(2_000).go();
    expect(linksIn(told)).toEqual([link('ann', 1_000), link('ann', 3_000)]);
    const never = asked({ assignee: 'ann', due: 1_000, link: false });
    never.at(1_000).go();
    expect(linksIn(never)).toBeUndefined();
  });

  it('PF7: count as well where a newer one was made meanwhile', () => {
    const told = asked({ assignee: 'ann', due: 1_000 });
    told.at(1_000).go();
    const older = 'j 0 1 0 ann 1000 {"approved":true}';
    told.signal('sign', { approved: true }, { by: 'ann', as: 'link', proof: older });
    expect(told.steps[0]).toMatchObject({ state: '$$complete' });
  });

  const data = { approved: true };
  const proof = `j 0 1 0 ann ${7 * day} {"approved":true}`;

  it('PF7: end the wait in the name of their user, which the result tells', () => {
    const told = asked({ assignee: ['ann', 'bob'] });
    told.signal('sign', data, { by: 'ann', as: 'link', proof });
    expect(told.steps[0]).toMatchObject({
      state: '$$complete',
      result: { approved: true, by: 'ann', as: 'link' },
      form: { answered: { by: 'ann', as: 'link' } },
    });
  });

  it.each([
    ['without a proof', { by: 'ann' }],
    ['with a hash as proof', { by: 'ann', proof: link('ann', 7 * day).hash }],
    ['with the proof of other data', { by: 'ann', proof: proof.replace('true', 'false') }],
    ['with the proof of somebody else', { by: 'bob', proof }],
    ['of nobody', { proof }],
    ['of somebody who has no link', { by: 'eve', proof: proof.replace('ann', 'eve') }],
  ])('PF7: do not count %s', (_how, sent) => {
    const told = asked({ assignee: ['ann', 'bob'] });
    told.signal('sign', data, { as: 'link', ...sent });
    expect(told.job).toMatchObject({
      steps: [{ state: '$$waiting' }],
      requests: [{ refused: 'Step "sign" takes no answer by a link that was not made for it.' }],
    });
  });

  it('PF7: do not count in a wait that has none', () => {
    const told = asked({ assignee: 'ann', link: false });
    told.signal('sign', data, { by: 'ann', as: 'link', proof });
    expect(told.steps[0]).toMatchObject({ state: '$$waiting' });
  });

  it('PF7: do not count where nothing proves them', () => {
    const told = asked({ assignee: 'ann' });
    told.with({ answerLinks: undefined });
    told.signal('sign', data, { by: 'ann', as: 'link', proof });
    expect(told.steps[0]).toMatchObject({ state: '$$waiting' });
  });
});

/** What the notification says that is made next. */
const toldBy = (told: Story): unknown => {
  const intent = told.decide();
  return intent.kind === 'write' ? intent.makes?.[0]?.['notifies'] : undefined;
};

describe('a notification of a form', () => {
  const entry = { on: ['waiting' as const], task: 'a', params: { text: '{{form.link}}' } };
  const made = (approve: Record<string, unknown>, more: Partial<Setting>): unknown => {
    return toldBy(asked(approve, more).at(1));
  };
  const id = 'j:notify:1:waiting-0';

  it('PF8: has the mark of the link that stands for it in parameters', () => {
    const notifies = made({ assignee: 'ann' }, { flow: { notify: [entry] } });
    const own = link('ann', 7 * day);
    expect(notifies).toMatchObject({
      answer: {
        path: '0',
        attempt: 1,
        since: t0,
        links: [{ ...own, mark: expect.any(String) as string }],
      },
    });
    expect(JSON.stringify(notifies)).toContain(`mark of ${id}`);
  });

  it('PF8: has none where the job itself asks for it, or a flow tells of it', () => {
    const none = expect.not.objectContaining({ answer: expect.anything() as unknown }) as unknown;
    expect(made({ assignee: 'ann' }, { job: { notify: [entry] } })).toEqual(none);
    const { params: _params, task: _task, ...on } = entry;
    const telling = { flow: { notify: [{ ...on, flow: 'f' }] } };
    expect(made({ assignee: 'ann' }, telling)).toEqual(none);
  });

  it('PF8: has none that is over', () => {
    const flow = { notify: [{ ...entry, after: 2_000 }] };
    const told = asked({ assignee: 'ann', link: 1_000 }, { flow });
    expect(toldBy(told.at(2_000))).toMatchObject({ answer: { links: [] } });
  });

  it('PF8: has a new one when its answer is due', () => {
    const flow = { notify: [{ ...entry, on: ['due' as const] }] };
    const told = asked({ assignee: 'ann', due: 1_000 }, { flow });
    told.at(1_000).go();
    const links = [{ for: 'ann', until: t0 + 1_000 + 7 * day }];
    expect(toldBy(told.at(1_001))).toMatchObject({ answer: { links } });
  });

  it('PF8: has none where an escalation asks another user, who has one, beside one who has none', () => {
    const flow = { notify: [{ ...entry, on: ['escalated' as const] }] };
    const escalate = { after: 2_000, assignee: 'eve' };
    const told = asked({ assignee: 'ann', escalate }, { flow });
    told.at(2_000).go();
    expect(JSON.stringify(toldBy(told.at(2_001)))).not.toContain('"text":"mark of');
  });
});
