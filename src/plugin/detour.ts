import type { DetourOutcome } from '../model/detour-outcome.js';

/**
 * Made by `context.wait`, `context.requeue` and `context.restartJob`: returned or thrown by a plugin,
 * it ends the attempt, but not its step.
 */
export class Detour {
  constructor(readonly outcome: DetourOutcome) {}
}
