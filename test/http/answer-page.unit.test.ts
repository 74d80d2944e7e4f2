import { describe, expect, it } from 'vitest';
import { createLinkRefusals } from '../../src/http/access/link-refusals.js';
import { answerTyped } from '../../src/http/answer-page/fields.js';
import { answerPage } from '../../src/http/answer-page/page.js';
import type { OpenForm } from '../../src/reading/open-forms.js';

const schema = {
  required: ['approved'],
  properties: {
    approved: { type: 'boolean' },
    sure: { type: 'boolean', title: 'Sure' },
    count: { type: 'integer', minimum: 1, maximum: 9 },
    colour: { enum: ['red', 7, null], title: '<Colour>', description: 'Of "it"' },
    day: { type: 'string', format: 'date' },
    code: { type: 'string', maxLength: 5 },
    why: { type: 'string' },
    list: { type: 'array' },
    odd: 7,
  },
};
const typed = (given: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(given).map(([key, value]) => [`field.${key}`, value]));
const page = (form: object, filled?: Parameters<typeof answerPage>[1]): string =>
  answerPage(
    {
      user: '<ann>',
      form: { job: 'j', flow: 'f', step: 's', path: '0', due: 0, form } as unknown as OpenForm,
    },
    filled,
  );

describe('the page of a link', () => {
  it('reads what was typed, and leaves out what is empty', () => {
    const given = { approved: 'true', sure: 'false', count: '3', colour: '7', why: 'a\r\nb' };
    const answer = { approved: true, sure: false, count: 3, colour: 7, why: 'a\nb' };
    expect(answerTyped(schema, typed({ ...given, day: '', list: '[1]' }))).toEqual({
      ...answer,
      list: [1],
    });
    expect(answerTyped(schema, typed({ approved: 'x', count: 'many', list: '[' }))).toEqual({
      ...{ approved: 'x', count: 'many', list: '[' },
    });
    expect(answerTyped(schema, { 'field.__proto__': '1', other: '2' })).toEqual({});
    expect(answerTyped({}, { answer: '{"a":1}' })).toEqual({ a: 1 });
    expect(answerTyped({}, {})).toEqual({});
  });

  it('has a label for every input, and nothing of a job is markup', () => {
    const html = page(schema, {
      typed: typed({ colour: '7', approved: 'false', why: '</textarea>' }),
      problems: [{ path: 'data.count', message: '<b> must be there.' }],
    });
    for (const text of ['&lt;Colour&gt;', '&lt;ann&gt;', 'Of &quot;it&quot;', '&lt;/textarea&gt;'])
      expect(html).toContain(text);
    expect(html).toContain('<option value="7" selected>');
    expect(html).toContain('value="false" name="field.approved" required checked>Refuse');
    expect(html).toMatch(
      /min="1" max="9" value="" id="field.count" name="field.count" aria-invalid/,
    );
    expect(html).toContain('<li>&lt;b&gt; must be there.</li>');
    expect(html).toContain('role="alert" tabindex="-1" autofocus>');
    expect(html).toContain('1970-01-01 00:00 UTC');
    expect(html).not.toContain('<script');
  });

  it('takes JSON where a form has no fields', () => {
    expect(
      page({}, { typed: { answer: '[' }, problems: [{ path: 'data', message: 'No.' }] }),
    ).toContain('name="answer" rows="6" spellcheck="false" aria-invalid="true">[</textarea>');
  });
});

describe('a link that does not work', () => {
  it('PF9: is refused after the same time, however long it took to find that out', async () => {
    let now = 0;
    const rested: number[] = [];
    const rest = async (ms: number) => void rested.push(ms);
    const refusals = createLinkRefusals({ perSecond: 1, burst: 3, now: () => now, rest });
    for (const took of [1, 150, 399]) {
      const began = refusals.now();
      now += took;
      await refusals.refuse('a', began);
      expect(took + (rested.at(-1) ?? 0)).toBe(400);
    }
    expect([refusals.wait('a'), refusals.wait('b')]).toEqual([1, undefined]);
  });
});
