/** Texts of the selected language, and its formats for numbers and times. */
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react'
import { I18nProvider } from 'react-aria-components/I18nProvider'
import type { Texts } from './en.ts'
import { keepLanguage, LANGUAGES, type Language, LOADERS, preferredLanguage } from './languages.ts'

interface Spoken {
  readonly language: Language
  readonly texts: Texts
  readonly number: (value: number) => string
  /** Formats an RFC 3339 time as a date and time in the time zone of the browser. */
  readonly moment: (iso: string) => string
  readonly choose: (language: Language) => void
}

const SpokenContext = createContext<Spoken | null>(null)

export function TextsProvider({ children }: { readonly children: ReactNode }) {
  const [language, setLanguage] = useState(preferredLanguage)
  const [loaded, setLoaded] = useState<{ language: Language; texts: Texts } | null>(null)
  useEffect(() => {
    let isCurrent = true
    void LOADERS[language]().then(texts => {
      if (isCurrent) setLoaded({ language, texts })
    })
    document.documentElement.lang = language
    return () => {
      isCurrent = false
    }
  }, [language])
  const choose = useCallback((chosen: Language) => {
    keepLanguage(chosen)
    setLanguage(chosen)
  }, [])
  const spoken = useMemo(() => {
    if (loaded === null) return null
    const { locale } = LANGUAGES[loaded.language]
    const numbers = new Intl.NumberFormat(locale)
    const moments = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
    return {
      ...loaded,
      number: (value: number) => numbers.format(value),
      moment: (iso: string) => moments.format(new Date(iso)),
      choose,
    }
  }, [loaded, choose])
  if (spoken === null) return null
  return (
    <I18nProvider locale={LANGUAGES[spoken.language].locale}>
      <SpokenContext value={spoken}>{children}</SpokenContext>
    </I18nProvider>
  )
}

export function useSpoken(): Spoken {
  const spoken = useContext(SpokenContext)
  if (spoken === null) throw new Error('texts are used outside of their provider')
  return spoken
}

export function useTexts(): Texts {
  return useSpoken().texts
}
