/** Languages of the console. To add a language, add a line here and its files to this folder. */
import type { Texts } from './en.ts'

export const LANGUAGES = {
  en: { name: 'English', locale: 'en-GB' },
  de: { name: 'Deutsch', locale: 'de-DE' },
} as const

export type Language = keyof typeof LANGUAGES

/** Functions that load the texts of a language when it is selected. */
export const LOADERS: Readonly<Record<Language, () => Promise<Texts>>> = {
  en: async () => (await import('./en.ts')).en,
  de: async () => (await import('./de.ts')).de,
}

const STORED = 'verdict.language'

/**
 * The language that was selected last. If there is none, the first language that the browser prefers and the
 * console has. Otherwise English.
 */
export function preferredLanguage(): Language {
  const wanted = [localStorage.getItem(STORED) ?? '', ...navigator.languages].map(tag => tag.slice(0, 2))
  return wanted.find(isLanguage) ?? 'en'
}

export function keepLanguage(language: Language): void {
  localStorage.setItem(STORED, language)
}

function isLanguage(tag: string): tag is Language {
  return Object.hasOwn(LANGUAGES, tag)
}
