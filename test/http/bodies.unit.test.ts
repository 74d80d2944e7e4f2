import { expect, it } from 'vitest';
import { readDelivery } from '../../src/http/plumbing/bodies.js';

const form = (text: string) =>
  readDelivery({ 'content-type': 'application/x-www-form-urlencoded' }, Buffer.from(text));

it('a form is an object of its fields, and a field that comes several times is a list', () => {
  expect(form('a=1&b=2&a=3&a=4&__proto__=5')).toEqual({ a: ['1', '3', '4'], b: '2' });
  const most = form('a=&'.repeat(1_000)) as { readonly a: readonly string[] };
  expect(most.a).toHaveLength(1_000);
});

it('a form of more than 1,000 fields is refused', () => {
  expect(() => form('a&'.repeat(100_000))).toThrow('the form has more than 1000 fields.');
});
