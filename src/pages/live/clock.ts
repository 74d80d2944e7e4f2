import { signal } from '@preact/signals';

/** The time by this browser's clock, epoch ms; goes on once a second while the page is seen. */
export const now = signal(Date.now());

setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1_000);
