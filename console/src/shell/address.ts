/** Parts of addresses. `Place.to` escapes them, since keys may hold anything, and routes hand them on as they are in the address. */
import { useHashLocation } from 'wouter/use-hash-location'

/** A part as it was before it was put into an address. One that nobody escaped is taken as it is. */
export function partOf(escaped: string): string {
  try {
    return decodeURIComponent(escaped)
  } catch {
    return escaped
  }
}

/**
 * Where the router reads the address. It decodes what it is given: with each `%` escaped once more it comes to the address as it is, and
 * nothing is decoded twice. Else the key `50%25` would lead to the page of `50%`.
 */
export function useEscapedAddress(): ReturnType<typeof useHashLocation> {
  const [address, go] = useHashLocation()
  return [address.replaceAll('%', '%25'), go]
}

/** As links have it. */
export function hashOf(address: string): string {
  return `#${address}`
}
