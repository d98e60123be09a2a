/** The languages of the console. Another one is a line here and a file beside. */
import type { Texts } from './en.ts'

export const LANGUAGES = {
  en: { name: 'English', locale: 'en-GB' },
  de: { name: 'Deutsch', locale: 'de-DE' },
} as const

export type Language = keyof typeof LANGUAGES

/** Each is loaded when it is chosen. */
export const LOADERS: Readonly<Record<Language, () => Promise<Texts>>> = {
  en: async () => (await import('./en.ts')).en,
  de: async () => (await import('./de.ts')).de,
}

const STORED = 'verdict.language'

/** What the reader chose last, else what the browser asks for, else English. */
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
