/**
 * Loopback addresses of one's own. Published clients expect some listeners at fixed ports; Linux answers to all of
 * 127.0.0.0/8, so that each test that needs such a port has it at an address that nobody else uses.
 */
import { randomInt } from 'node:crypto'
import { reservePort } from '#http/edge/reserve-port.ts'

/** Where SDKs look for an Open Policy Agent, whatever they are told. */
export const SDK_OPA_PORT = 8181

const ATTEMPTS = 20

/** A loopback address at which the port is free. Systems with a single loopback address have `127.0.0.1` to offer. */
export async function loopbackWithFree(port: number): Promise<string> {
  const candidates = Array.from(
    { length: ATTEMPTS },
    () => `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`,
  )
  for (const host of candidates) {
    const reserved = await reservePort({ host, port }).catch(() => null)
    if (reserved !== null) return host
  }
  await reservePort({ host: '127.0.0.1', port })
  return '127.0.0.1'
}
