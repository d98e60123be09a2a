/**
 * Allocates free ports for processes that need to know their port in advance. The ports are below the range
 * from which the kernel assigns ports. While this process lives, other processes that use this module cannot
 * get the same port, because a second port that represents it is held open. Ports that `fetch` rejects ("bad
 * port", https://fetch.spec.whatwg.org/#port-blocking) are not used.
 */
import { once } from 'node:events'
import { createServer } from 'node:net'

/** The highest port that `fetch` rejects is 10,080. */
export const FIRST = 10_100
/** The same number of ports above represent them. The kernel assigns ports from 32,768. */
const COUNT = 10_000
/** Different processes start at different positions. */
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
    // The socket is held for the lifetime of the process and does not keep it alive.
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
