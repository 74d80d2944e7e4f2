import { describe, expect, it } from 'vitest';
import type { StoredDefinition } from '../../src/pages/definitions/stored.js';
import { flowOf } from '../../src/pages/definitions/uses.js';
import { formOf, whyJson } from '../../src/pages/form/flow-form.js';
import { sealedIn } from '../../src/pages/form/sealed.js';
import { stepParamsSchema } from '../../src/pages/form/step-schema.js';

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

describe('parameters that a task seals', () => {
  const text = { type: 'string' };
  const http = { type: 'object', properties: { url: text, body: text } };
  const document = {
    ...{ type: 'flow', name: 'call', owner: 'me', tasks: ['http'] },
    schema: { type: 'object', properties: { http, 'http-0': http, note: text } },
  };
  const enc = 'tws:v2:AAAA';
  const fieldsOf = (task: object) => {
    const stored = { type: 'task', name: 'http', owner: 'DEFAULT', ...task };
    const tasks = [
      { name: 'http', owner: 'DEFAULT', document: stored } as unknown as StoredDefinition,
    ];
    const flow = flowOf(document);
    const form = formOf({ document }, sealedIn(flow, tasks));
    const inTask = form?.field.fields['http'];
    const { properties } = stepParamsSchema(flow as NonNullable<typeof flow>, tasks);
    return {
      top: Object.keys(form?.field.fields ?? {}),
      inTask: inTask?.kind === 'group' ? Object.keys(inTask.fields) : [],
      sealed: form?.sealed,
      step: (properties as Record<string, object>)['http'],
    };
  };

  it.each<readonly [string, object, readonly string[], readonly string[]]>([
    ['none', {}, ['url', 'body'], []],
    ['one', { params: { url: 'x' }, sealed: ['url'] }, ['body'], ['url']],
    ['a part of one', { params: { url: { a: 1 } }, sealed: ['url.a'] }, ['url', 'body'], []],
    ['what is not open', { params: { url: enc, body: 'x' }, open: ['body'] }, ['body'], ['url']],
  ])('are not offered: %s', (_what, task, inTask, sealed) => {
    const found = fieldsOf(task);
    expect(found.inTask).toEqual(inTask);
    expect(found.sealed).toEqual(
      ['http', 'http-0'].flatMap((at) => sealed.map((key) => `${at}.${key}`)),
    );
    const { properties = {} } = found.step as { properties?: object };
    for (const key of sealed) expect(properties).not.toHaveProperty(key);
    if (sealed.length > 0) {
      expect(found.step).toMatchObject({ description: expect.stringContaining('url') as unknown });
    }
  });

  it('leave no group that has nothing else', () => {
    expect(fieldsOf({ params: { url: enc } }).top).toEqual(['note']);
  });
});
