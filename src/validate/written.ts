/** A document as somebody wrote it: in a file, or in a request. */
export type Written = Readonly<Record<string, unknown>>;

/** A problem of a file: where in it, as JSON path or line, and the sentence. */
export type FileProblem = {
  readonly file: string;
  readonly path: string;
  readonly message: string;
};
