import { describe, expect, it } from 'vitest';
import { formOf, whyJson } from '../../src/pages/form/flow-form.js';

const properties = { mail: { type: 'string' }, way: { enum: ['web'], default: 'web' } };
const schema = { type: 'object', required: ['mail', 'way'], properties };

describe('the form of a flow', () => {
  it('asks for no more than what the flow does not give', () => {
    const form = formOf({ document: { schema, params: { way: 'web', step: { a: 1 } } } });
    expect(form?.usuals).toEqual({ way: 'web' });
    expect(form?.field.fields['mail']).toMatchObject({ required: true });
    expect(form?.field.fields['way']).toMatchObject({ required: false });
    expect(form?.field.fields['way']).not.toHaveProperty('initial');
  });

  it.each<readonly [object, RegExp]>([
    [{}, /has no "schema"/],
    [{ schema: { type: 'object' } }, /its keys/],
    [{ schema: { ...schema, if: {} } }, /"if"/],
    [{ schema: { type: 'string' } }, /what it begins with/],
  ])('is none of %j, and says why', (document, why) => {
    expect(formOf({ document: { ...document } })).toBeUndefined();
    expect(whyJson({ document: { ...document } })).toMatch(why);
  });
});
