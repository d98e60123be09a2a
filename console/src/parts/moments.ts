/** Moments as an input of the browser has them, in its zone, and as the interface has them. */
const MINUTE_MS = 60_000

/** Empty where it is no moment. */
export function localMoment(iso: string): string {
  const time = new Date(iso)
  if (Number.isNaN(time.getTime())) return ''
  return new Date(time.getTime() - time.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16)
}

/** RFC 3339. What is no moment is sent as it is, and refused there. */
export function isoMoment(typed: string): string {
  const time = new Date(typed)
  return Number.isNaN(time.getTime()) ? typed : time.toISOString()
}
