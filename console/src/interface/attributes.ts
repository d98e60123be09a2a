/** Attributes as one types them: JSON. */
import { parsedJson } from './json.ts'

/** The attributes that a text stands for; undefined: it is empty; null: it is no JSON object. */
export function attributesIn(text: string): Readonly<Record<string, unknown>> | undefined | null {
  if (text.trim() === '') return undefined
  try {
    const value = parsedJson(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
  } catch {
    return null
  }
}

/** As one reads and changes them; empty: there are none. */
export function attributesText(attributes: Readonly<Record<string, unknown>> | null | undefined): string {
  return attributes === null || attributes === undefined ? '' : JSON.stringify(attributes, null, 2)
}
