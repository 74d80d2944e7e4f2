/**
 * Made by `context.done` and returned by a plugin: its work is complete, even if it was told to stop
 * before it returned.
 */
export class Done {
  constructor(readonly result: unknown) {}
}
