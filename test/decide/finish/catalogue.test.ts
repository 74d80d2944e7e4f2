import { describe, expect, it } from 'vitest';
import type { Catalogued } from '../../../src/model/catalogue.js';
import { t0, task } from '../../support/builders.js';
import { story, type Story } from '../story.js';

type Errors = Readonly<Record<string, Catalogued>>;

/** A step whose plugin failed with `name`, and perhaps a code, in a flow with this catalogue. */
function failed(errors: Errors, more: object = {}, entry: object = {}): Story {
  const told = story({ steps: [{ task: 'a', ...entry }, 'b'], flow: { errors } });
  told.go();
  told.end({
    kind: 'failed',
    failure: { name: 'Auth.Denied', message: 'No.', code: 'E403', ...more },
  });
  return told;
}

describe('a failure that the catalogue calls a warning', () => {
  const failure = { name: 'Auth.Denied', message: 'No.', code: 'E403', step: 'a' };

  it('does not fail its step, not even for a retry', () => {
    const told = failed({ 'Auth.Denied': { severity: 'warning' } }, {}, { retry: 3 });
    expect(told.trail).toEqual(['a#1 $$complete', 'b#1 $$active']);
    expect(told.steps[0]).toMatchObject({ exit: 0, end: t0, warning: failure });
    expect(told.steps[0]).not.toHaveProperty('failure');
    told.done();
    expect(told.ending).toEqual({ state: '$$complete', exit: 0, failure: undefined });
  });

  it('leaves no result', () => {
    const told = failed({ 'Auth.*': { severity: 'warning' } });
    expect(told.steps[0]).not.toHaveProperty('result');
  });

  it('is tried again first when the catalogue says so', () => {
    const told = failed({ E403: { severity: 'warning', retry: 1 } });
    expect(told.trail).toEqual(['a#1 $$error', 'a#2 $$active']);
    told.fail('Auth.Denied', { failure });
    expect(told.trail).toEqual(['a#1 $$error', 'a#2 $$complete', 'b#1 $$active']);
  });

  it('may be one that failed before any engine took it', () => {
    const told = story({
      steps: [{ task: 'a', params: { x: '{{nothing.there}}' } }, 'b'],
      flow: { errors: { TemplateError: { severity: 'warning' } } },
    });
    told.go();
    expect(told.steps[0]).toMatchObject({
      state: '$$complete',
      warning: { name: 'TemplateError' },
    });
    expect(told.trail).toEqual(['a#1 $$complete', 'b#1 $$active']);
  });
});

describe('a failure that the catalogue calls fatal', () => {
  it('ends all retries, of the step and of the flow', () => {
    const told = story({
      steps: [{ task: 'a', retry: 3 }],
      flow: { retry: 3, errors: { Broken: { severity: 'fatal', retry: true } } },
    });
    told.go();
    told.fail();
    expect(told.ending).toEqual({ state: '$$complete', exit: 2, failure: 'Broken' });
    expect(told.last).toMatchObject({ failure: { severity: 'fatal', retryable: false } });
  });

  it('may still be handled', () => {
    const told = story({
      steps: [{ task: 'a', error: 'h' }],
      tasks: [task('h')],
      flow: { errors: { '*': { severity: 'fatal' } } },
    });
    told.go();
    told.fail();
    expect(told.trail).toEqual(['a#1 $$error', 'h#1 $$active']);
  });
});

describe('the catalogue', () => {
  // Shows E-16.
  it.each([
    ['the name itself before any pattern', { '*': {}, 'Auth.*': {}, 'Auth.Denied': no }],
    ['the code before any pattern', { 'Auth.*': {}, E403: no }],
    ['the longest pattern', { '*': {}, 'Auth.*': no, 'A*': {} }],
    ['a pattern of the code', { 'Net*': {}, 'E4*': no }],
    ['nothing where nothing matches', { Auth: no, 'Auth.': no }],
  ])('heeds %s', (title, errors) => {
    const told = failed(errors, {}, { retry: 1 });
    expect(told.steps).toHaveLength(title.startsWith('nothing') ? 2 : 1);
  });

  const cases: readonly [string, Catalogued, object, object, boolean][] = [
    ['forbids a retry', { retry: false }, { retry: 1 }, {}, false],
    [
      'allows it whatever the policy names',
      { retry: true },
      { retry: { limit: 1, on: [] } },
      {},
      true,
    ],
    [
      'allows it whatever the policy excludes',
      { retry: true },
      { retry: { limit: 1, never: ['*'] } },
      {},
      true,
    ],
    ['allows no more than the policy has', { retry: true }, {}, {}, false],
    [
      'allows it whatever the plugin says',
      { retry: true },
      { retry: 1 },
      { retryable: false },
      true,
    ],
    ['gives a policy of its own', { retry: { limit: 1 } }, {}, {}, true],
    ['gives a number of retries', { retry: 1 }, {}, { kind: 'business' }, true],
    ['gives one that excludes', { retry: { limit: 1, never: ['E403'] } }, {}, {}, false],
    ['gives one that names others', { retry: { limit: 1, on: ['Other'] } }, {}, {}, false],
    ['says that the data are wrong', { kind: 'business' }, { retry: 1 }, {}, false],
    ['says that they are not', { kind: 'technical' }, { retry: 1 }, { kind: 'business' }, true],
    ['changes nothing when it says nothing', {}, { retry: 1 }, {}, true],
    ['changes nothing by calling it major', { severity: 'major' }, { retry: 1 }, {}, true],
  ];
  it.each(cases)('%s', (_title, said, entry, more, retried) => {
    const told = failed({ 'Auth.Denied': said }, more, entry);
    expect(told.steps).toHaveLength(retried ? 2 : 1);
  });

  it('takes the delay of the flow where its policy gives none', () => {
    const told = story({
      steps: ['a'],
      flow: { retry: { delay: 70 }, errors: { Broken: { retry: 1 } } },
    });
    told.go();
    told.fail();
    expect(told.last).toMatchObject({ due: t0 + 70 });
  });
});

/** The entry of which the tests see that it was heeded. */
const no = { retry: false } as const;

describe('a business failure', () => {
  // Shows D-09.
  it.each([
    ['is not tried again', { limit: 1 }, 1],
    ['is tried again when the policy names it', { limit: 1, on: ['Auth.*'] }, 2],
    ['is tried again when the policy names everything', { limit: 1, on: ['*'] }, 2],
    ['is not tried again when the policy names others', { limit: 1, on: ['Other'] }, 1],
  ])('%s', (_title, retry, attempts) => {
    const told = failed({}, { kind: 'business' }, { retry });
    expect(told.steps).toHaveLength(attempts);
    expect(told.steps[0]).toMatchObject({ failure: { kind: 'business' } });
  });

  it('does not make the flow go on at its step, either', () => {
    const told = story({ steps: ['a'], flow: { retry: 3 } });
    told.go();
    told.end({ kind: 'failed', failure: { name: 'N', message: 'm', kind: 'business' } });
    expect(told.ending).toMatchObject({ exit: 2, failure: 'N' });
  });
});
