import { describe, expect, it } from 'vitest';
import type { StepForm } from '../../src/model/step.js';
import { peopleWords } from '../../src/reading/people.js';

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `u${i}`);

describe('those who are asked, in words', () => {
  it.each<[form: StepForm, words: string]>([
    [{}, 'a person'],
    [{ assignee: ['ann'] }, 'ann'],
    [{ assignee: ['ann', 'bob'], group: ['heads'] }, 'ann, bob or the group "heads"'],
    [{ assignee: names(11) }, 'u0, u1, u2, u3, u4, u5, u6, u7, u8, u9 or u10'],
    [{ assignee: names(5_000) }, 'u0, u1, u2, u3, u4, u5, u6, u7, u8, u9 or 4990 others'],
  ])('name ten people at most (%#)', (form, words) => {
    expect(peopleWords(form)).toBe(words);
  });
});
