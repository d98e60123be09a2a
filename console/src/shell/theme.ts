/** Color theme: light or dark. The user selects it. By default, it is that of the system. */
const STORED = 'verdict.theme'

export const THEMES = ['auto', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

export function currentTheme(): Theme {
  const stored = localStorage.getItem(STORED)
  return THEMES.find(theme => theme === stored) ?? 'auto'
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(STORED, theme)
  applyTheme()
}

export function applyTheme(): void {
  document.documentElement.dataset['theme'] = currentTheme()
}
