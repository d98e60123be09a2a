/** Separate loopback addresses for tests with a fixed port. Linux accepts all of 127.0.0.0/8. */
import { randomInt } from 'node:crypto'
import { reservePort } from '#http/edge/reserve-port.ts'

/** Port at which SDKs expect an Open Policy Agent. It cannot be configured. */
export const SDK_OPA_PORT = 8181

const ATTEMPTS = 20

/** A loopback address at which the port is free. Systems with a single loopback address use `127.0.0.1`. */
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
