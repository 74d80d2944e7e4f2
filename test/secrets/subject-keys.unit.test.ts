import { describe, expect, it } from 'vitest';
import {
  newSubjectKey,
  openValue,
  sealValue,
  subjectReference,
} from '../../src/secrets/subject-keys.js';

const place = { owner: 'me', subject: 's-1', name: 'iban' };

describe('a sealed value', () => {
  it('is opened by its key at its place only', () => {
    const key = newSubjectKey();
    const sealed = sealValue(key, 'DE02 ü', place);
    expect(sealed).toMatch(/^tws:s1:/);
    expect(sealValue(key, 'DE02 ü', place)).not.toBe(sealed);
    expect(openValue(key, sealed, place)).toBe('DE02 ü');
    expect(openValue(newSubjectKey(), sealed, place)).toBeUndefined();
    for (const other of [{ owner: 'you' }, { subject: 's-2' }, { name: 'bic' }]) {
      expect(openValue(key, sealed, { ...place, ...other })).toBeUndefined();
    }
    expect(openValue(key, `${sealed}A`, place)).toBeUndefined();
    expect(openValue(key, 'DE02', place)).toBeUndefined();
  });
});

describe('the reference of a subject', () => {
  it('is the same for the same subject of an owner, and another one for any other or another key', () => {
    const key = newSubjectKey();
    const one = subjectReference(key, 'me', 'maria');
    expect(one).toMatch(/^s-[\w-]{43}$/);
    expect(subjectReference(key, 'me', 'maria')).toBe(one);
    expect(subjectReference(key, 'you', 'maria')).not.toBe(one);
    expect(subjectReference(key, 'me', 'maris')).not.toBe(one);
    expect(subjectReference(newSubjectKey(), 'me', 'maria')).not.toBe(one);
  });
});
