import { computed, effect, signal } from '@preact/signals';

/** `auto`: as the system has it. */
export type Theme = 'auto' | 'light' | 'dark';
export const themes: readonly Theme[] = ['auto', 'light', 'dark'];

const key = 'tws-theme';

/** The colours that were chosen; this browser keeps them. */
export const theme = signal<Theme>(kept());

const system = matchMedia('(prefers-color-scheme: dark)');
const systemIsDark = signal(system.matches);
system.addEventListener('change', ({ matches }) => {
  systemIsDark.value = matches;
});

/** Whether the pages are dark now. */
export const isDark = computed(() =>
  theme.value === 'auto' ? systemIsDark.value : theme.value === 'dark',
);

effect(() => {
  document.documentElement.dataset['theme'] = isDark.value ? 'dark' : 'light';
  try {
    localStorage.setItem(key, theme.value);
  } catch {
    // Where nothing may be kept, the choice lasts as long as the page.
  }
});

function kept(): Theme {
  try {
    const word = localStorage.getItem(key);
    return themes.find((one) => one === word) ?? 'auto';
  } catch {
    return 'auto';
  }
}
