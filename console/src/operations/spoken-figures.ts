/** Figures as the reader's language writes them: times of day, spans, and numbers as exact as one can use them. */
import { useMemo } from 'react'
import { LANGUAGES } from '../texts/languages.ts'
import { useSpoken } from '../texts/texts.tsx'

export interface SpokenFigures {
  /** With seconds. */
  readonly clock: (at: string | number) => string
  /** Without. */
  readonly hour: (at: number) => string
  readonly figure: (value: number) => string
  /** Short enough for the edge of a plot. */
  readonly brief: (value: number) => string
  /** `950 ms`, `12 s`. */
  readonly span: (ms: number) => string
}

const SECOND_MS = 1_000

export function useSpokenFigures(): SpokenFigures {
  const { language } = useSpoken()
  return useMemo(() => {
    const { locale } = LANGUAGES[language]
    const clocks = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' })
    const hours = new Intl.DateTimeFormat(locale, { timeStyle: 'short' })
    const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 })
    const exact = new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 })
    const briefs = new Intl.NumberFormat(locale, { maximumSignificantDigits: 3, notation: 'compact' })
    const figure = (value: number): string => (value < 100 ? exact : whole).format(value)
    return {
      clock: at => clocks.format(new Date(at)),
      hour: at => hours.format(new Date(at)),
      figure,
      brief: value => briefs.format(value),
      span: ms => (ms < SECOND_MS ? `${figure(ms)} ms` : `${figure(ms / SECOND_MS)} s`),
    }
  }, [language])
}
