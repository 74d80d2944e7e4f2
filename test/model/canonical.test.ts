import { expect, it } from 'vitest';
import { canonical } from '../../src/model/canonical.js';

it.each([
  [{ b: 1, a: 2 }, '{"a":2,"b":1}'],
  [{ a: { d: [{ z: 1, y: null }], c: '' } }, '{"a":{"c":"","d":[{"y":null,"z":1}]}}'],
  [[2, 1], '[2,1]'],
  ['é"', '"é\\""'],
  [null, 'null'],
  [{ ä: 1, Z: 2, z: 3 }, '{"Z":2,"z":3,"ä":1}'],
])('writes %j with its keys in order, and lists as they are', (value, text) => {
  expect(canonical(value)).toBe(text);
});
