// Light or dark: as the reader's system has it, or as the reader chose.

import { effect, signal } from "@preact/signals";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const CHOSEN = "duetime.theme";

const isTheme = (text: string | null): text is Theme => THEMES.includes(text as Theme);
const stored = localStorage.getItem(CHOSEN);

export const theme = signal<Theme>(isTheme(stored) ? stored : "system");
effect(() => {
  document.documentElement.dataset.theme = theme.value;
});

export function chooseTheme(chosen: string): void {
  if (!isTheme(chosen)) return;
  theme.value = chosen;
  localStorage.setItem(CHOSEN, chosen);
}
