/** Conversion between the local date and time of browser inputs and the RFC 3339 format of the API. */
const MINUTE_MS = 60_000

/** Converts to the format of the input. Empty if the text is not a valid date and time. */
export function localDateTime(iso: string): string {
  const time = new Date(iso)
  if (Number.isNaN(time.getTime())) return ''
  return new Date(time.getTime() - time.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16)
}

/** Converts to RFC 3339. If the text is not valid, it is returned unchanged, and the API rejects it. */
export function isoDateTime(typed: string): string {
  const time = new Date(typed)
  return Number.isNaN(time.getTime()) ? typed : time.toISOString()
}
