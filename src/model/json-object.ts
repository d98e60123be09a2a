/** Parsed JSON objects. */

/**
 * A JSON object. Its members are its own properties, including `__proto__`. Read them only if they are own
 * properties.
 */
export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
