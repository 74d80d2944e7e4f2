import { expect, it } from 'vitest';
import { problemOfAnswer } from '../../src/client/signal-answers.js';

it.each([
  [{ kind: 'pending' }, undefined],
  [{ kind: 'answered', answer: 1 }, undefined],
  [{ kind: 'refused', because: 'No' }, 'signal_refused'],
  [{ kind: 'failed', because: 'No.' }, 'signal_failed'],
  [{ kind: 'unanswered' }, 'signal_unanswered'],
] as const)('what %j is called', (answer, code) => {
  expect(problemOfAnswer(answer, 'j')?.code).toBe(code);
});
