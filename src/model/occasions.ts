/** What happens on its own while people are waited for. */
export const formEvents = ['reminder', 'due', 'escalated'] as const;
export type FormEvent = (typeof formEvents)[number];

/** What may be told of a job that goes on. */
export const alertOccasions = ['late', 'stuck', 'waiting', ...formEvents] as const;
export type AlertOccasion = (typeof alertOccasions)[number];

/** Whether it tells of a wait for people. */
export function isFormEvent(event: AlertOccasion): boolean {
  return event === 'waiting' || formEvents.some((one) => one === event);
}

/** How a job may end that is told of. */
const endings = ['succeeded', 'failed', 'cancelled'] as const;

/** What a notification may be about: how a job ended, that it did, or an alert. */
export const occasions = [...endings, 'ended', ...alertOccasions] as const;
export type Occasion = (typeof occasions)[number];

/** What a message may tell: something is always said of how a job ended. */
export const toldOccasions = [...endings, ...alertOccasions] as const;
