import { describe, expect, test } from 'vitest';
import { readDesign } from '../../src/store/design-source.js';
import { compileDesign } from './design-function.js';
import { validateCases } from './validate-cases.js';

type Validate = (newDoc: object, oldDoc: object | null, user: object, security: object) => void;

const { validate_doc_update: text = '' } = await readDesign('guard');
const validate = compileDesign<Validate>(text);

/** The sentence a change is refused with; an empty text when it is not. */
function refusal(before: object | undefined, after: object): string {
  const old = before === undefined ? null : { _id: 'x', _rev: '1-x', ...before };
  const now = { _id: 'x', ...after };
  try {
    validate(JSON.parse(JSON.stringify(now)) as object, old, { roles: ['_admin'] }, {});
    return '';
  } catch (thrown) {
    return (thrown as { forbidden: string }).forbidden;
  }
}

describe('validate_doc_update', () => {
  test.each(
    validateCases.map((one) => [one.refused ? 'refuses' : 'lets pass', one.title, one] as const),
  )('%s: %s', (_verb, _title, { before, after, refused = '' }) => {
    const sentence = refusal(before, after);
    expect(sentence).toContain(refused);
    expect(sentence === '').toBe(refused === '');
    if (sentence !== '') expect(sentence).toMatch(/^[A-Z].*\.$/);
  });

  test('a deleted document may come back as another type', () => {
    expect(refusal({ type: 'task', _deleted: true }, { type: 'job', flow: 'a' })).toBe('');
  });

  test('reads each step of a job only a few times, however many there are', () => {
    const readsOf = (steps: number): number => {
      let reads = 0;
      const counting: ProxyHandler<object> = {
        get: (target, key, receiver) => {
          reads += 1;
          return Reflect.get(target, key, receiver) as unknown;
        },
      };
      const step = { path: '0', attempt: 1, state: '$$complete', end: 2, exit: 0 };
      const listed = Array.from({ length: steps }, () => new Proxy({ ...step }, counting));
      const job = { type: 'job', flow: 'a', state: 'a-1', steps: new Proxy(listed, counting) };
      validate(job, job, {}, {});
      return reads;
    };
    expect(readsOf(2_000)).toBeGreaterThan(2_000);
    expect(readsOf(2_000)).toBeLessThanOrEqual(2 * readsOf(1_000));
  });
});
