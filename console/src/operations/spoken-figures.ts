/**
 * Formats figures in the language of the user: times of day, durations, and numbers with a useful precision.
 */
import { useMemo } from 'react'
import { LANGUAGES } from '../texts/languages.ts'
import { useSpoken } from '../texts/texts.tsx'

export interface SpokenFigures {
  /** Time of day with seconds. */
  readonly clock: (at: string | number) => string
  /** Time of day without seconds. */
  readonly hour: (at: number) => string
  readonly figure: (value: number) => string
  /** Short format for the axis of a plot. */
  readonly brief: (value: number) => string
  /** Duration such as `950 ms` or `12 s`. */
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
