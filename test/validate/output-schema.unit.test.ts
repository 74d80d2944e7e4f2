import { expect, it } from 'vitest';
import { checkDocument } from '../../src/validate/document.js';

const flow = { _id: 'flow:me:f', type: 'flow', name: 'f', owner: 'me', tasks: ['a'] };

it.each([
  [flow, { type: 'nonsense' }, /^output_schema is no valid JSON Schema: /],
  [flow, 'any', /^output_schema must be an object/],
  [flow, { $comment: 'x'.repeat(100_001) }, /^output_schema is no valid JSON Schema: it has /],
  [{ type: 'task', name: 'a', _id: 'task:me:a' }, { $ref: '#/no' }, /no valid JSON Schema/],
])('an output_schema that is none is refused: %#', (doc, schema, says) => {
  const [problem] = checkDocument('x.json', { ...doc, output_schema: schema });
  expect(problem).toMatchObject({ path: 'output_schema' });
  expect(problem?.message).toMatch(says);
});
