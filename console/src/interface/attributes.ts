/** Converts attributes to the JSON text that users edit, and back. */
import { isObject, parsedJson } from './json.ts'

/** Parses attributes. Returns undefined if the text is empty, and null if it is not a JSON object. */
export function attributesIn(text: string): Readonly<Record<string, unknown>> | undefined | null {
  if (text.trim() === '') return undefined
  try {
    const value = parsedJson(text)
    return isObject(value) ? { ...value } : null
  } catch {
    return null
  }
}

/** Formats attributes for editing. Returns an empty text if there are none. */
export function attributesText(attributes: Readonly<Record<string, unknown>> | null | undefined): string {
  return attributes === null || attributes === undefined ? '' : JSON.stringify(attributes, null, 2)
}
