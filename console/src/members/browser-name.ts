/** Names the browser and the operating system of a session, as far as its `User-Agent` header shows them. */
import type { Texts } from '../texts/en.ts'

/** The first match counts, because browsers also name the browsers that they are compatible with. */
const BROWSERS = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Headless)?Chrome\/|\bCriOS\//],
  ['Safari', /\bSafari\//],
] as const
const SYSTEMS = [
  ['Android', /\bAndroid\b/],
  ['iOS', /\b(?:iPhone|iPad)\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['Linux', /\bLinux\b/],
] as const

export function browserName(userAgent: string | null | undefined, texts: Texts['account']): string {
  if (!userAgent) return texts.unknownBrowser
  const [browser] = BROWSERS.find(([, pattern]) => pattern.test(userAgent)) ?? []
  const [system] = SYSTEMS.find(([, pattern]) => pattern.test(userAgent)) ?? []
  if (browser === undefined) return userAgent
  return system === undefined ? browser : texts.browserOn(browser, system)
}
