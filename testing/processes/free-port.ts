/**
 * A port for who has to be told which, free until it is used: below those that the kernel gives away by itself, and nobody else
 * who asks here gets it while this process lives, since the port that stands for it is held. None is among the ports that
 * `fetch` refuses ("bad port", https://fetch.spec.whatwg.org/#port-blocking).
 */
import { once } from 'node:events'
import { createServer } from 'node:net'

/** The highest port that `fetch` refuses is 10,080. */
export const FIRST = 10_100
/** As many again stand for them; the kernel gives away those from 32,768 on. */
const COUNT = 10_000
/** Processes begin at places of their own. */
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
    // For as long as the process lives, which it does not keep from ending.
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
