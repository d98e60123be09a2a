/** Parts of addresses. `Place.to` escapes them, since keys may hold anything, and routes hand them on as they are in the address. */

/** A part as it was before it was put into an address. One that nobody escaped is taken as it is. */
export function partOf(escaped: string): string {
  try {
    return decodeURIComponent(escaped)
  } catch {
    return escaped
  }
}
