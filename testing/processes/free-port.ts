/**
 * Finds free ports for processes that must know their port in advance. The ports are below the range from
 * which the kernel assigns ports, and are not among those that `fetch` rejects ("bad port",
 * https://fetch.spec.whatwg.org/#port-blocking). This process holds a second port for each of them; other
 * processes that use this module therefore never get the same port while this process lives.
 */
import { once } from 'node:events'
import { createServer } from 'node:net'

/** The first port; the highest port that `fetch` rejects is 10,080. */
export const FIRST = 10_100
/** Number of ports, and of second ports above them. The kernel assigns ports from 32,768. */
const COUNT = 10_000
/** Each process starts at a different position. */
let last = FIRST + ((process.pid * 97) % COUNT)

export async function freePort(): Promise<number> {
  for (let tried = 0; tried < COUNT; tried += 1) {
    last = FIRST + ((last + 1 - FIRST) % COUNT)
    const port = last
    const held = await listenAt(port + COUNT)
    if (held === null) continue
    const probe = await listenAt(port)
    if (probe === null) {
      held.close()
      continue
    }
    probe.close()
    await once(probe, 'close')
    // Holds the second port until the process ends, but does not keep the process alive.
    held.unref()
    return port
  }
  throw new Error('all ports are taken')
}

async function listenAt(port: number) {
  const server = createServer()
  try {
    await once(server.listen({ port, host: '127.0.0.1', exclusive: true }), 'listening')
    return server
  } catch {
    return null
  }
}
