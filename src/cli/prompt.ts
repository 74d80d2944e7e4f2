import { problem } from '../errors.js';
import type { Io } from './io.js';
import { plain } from './safe.js';

/** Questions to the person at the terminal; they go to stderr, so that stdout holds results only. */
export type Questions = {
  readonly text: (question: string, fallback?: string) => Promise<string>;
  readonly hidden: (question: string) => Promise<string>;
  readonly confirm: (question: string, fallback: boolean) => Promise<boolean>;
};

/**
 * As `questions`, for a command that does something with `--no-confirm`, too; `doing`: `Removing files`.
 * @throws TwsError `confirmation_missing` away from a terminal, `interrupted` on Ctrl-C
 */
export async function confirming(io: Io, doing: string): Promise<Questions> {
  if (!io.interactive) throw problem('confirmation_missing', { doing });
  return questions(io, doing);
}

/** @throws TwsError `terminal_needed` away from a terminal, `interrupted` on Ctrl-C */
export async function questions(io: Io, what: string): Promise<Questions> {
  if (!io.interactive) throw problem('terminal_needed', { what });
  const { default: inquirer } = await import('inquirer');
  const prompt = inquirer.createPromptModule({ output: process.stderr });
  const ask = async <T>(answered: Promise<{ readonly answer: T }>): Promise<T> => {
    try {
      return (await answered).answer;
    } catch (error) {
      if (error instanceof Error && error.name === 'ExitPromptError')
        throw problem('interrupted', {});
      throw error;
    }
  };
  return {
    text: (question, fallback) =>
      ask(
        prompt([
          {
            type: 'input',
            name: 'answer',
            message: plain(question),
            ...(fallback === undefined ? {} : { default: fallback }),
          },
        ]),
      ),
    hidden: (question) =>
      ask(prompt([{ type: 'password', name: 'answer', message: plain(question), mask: false }])),
    confirm: (question, fallback) =>
      ask(
        prompt([{ type: 'confirm', name: 'answer', message: plain(question), default: fallback }]),
      ),
  };
}
