import { expect, it } from 'vitest';
import { submittedWords } from '../../src/pages/form/submitted.js';

it.each([
  [{ existed: false }, 'Submitted.'],
  [{ existed: true }, 'It was submitted before; this is that job.'],
  [
    { existed: true, existing: true as const },
    'Nothing was submitted: this job has the same "unique" key.',
  ],
])('the answer %j to a submit is told as it is', (answer, words) => {
  expect(submittedWords({ id: 'a', ...answer })).toBe(words);
});
