/** The answer of the API to a submit. */
export type SubmitAnswer = {
  readonly id: string;
  readonly existed: boolean;
  readonly existing?: true;
};

/** What to say of a submit whose job is shown next. */
export function submittedWords({ existed, existing }: SubmitAnswer): string {
  if (existing === true) return 'Nothing was submitted: this job has the same "unique" key.';
  return existed ? 'It was submitted before; this is that job.' : 'Submitted.';
}
