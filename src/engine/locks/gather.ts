/**
 * Answers single questions by shared requests: one is in flight, and what is asked meanwhile goes
 * into the next one. So an answer is never older than its question. A request that fails fails for
 * all whose questions are in it.
 */
export function gather<Q, A>(
  request: (questions: readonly Q[]) => Promise<A>,
): (question: Q) => Promise<A> {
  let running: Promise<A> | undefined;
  let next: { readonly questions: Q[]; readonly answer: Promise<A> } | undefined;
  const start = (questions: readonly Q[]): Promise<A> => {
    const answer = request(questions);
    const done = (): void => {
      if (running === answer) running = undefined;
    };
    running = answer;
    void answer.then(done, done);
    return answer;
  };
  return (question) => {
    if (next !== undefined) {
      next.questions.push(question);
      return next.answer;
    }
    // What is asked in the same turn of the event loop belongs together.
    const questions = [question];
    const before = running?.catch(() => undefined) ?? Promise.resolve();
    const answer = before.then(() => {
      next = undefined;
      return start(questions);
    });
    next = { questions, answer };
    return answer;
  };
}
