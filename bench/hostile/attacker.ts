/**
 * A thread that attacks the service. It is separate from the thread that measures the victims, because an
 * attack generates and reads megabytes.
 */
import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { HostileClient } from '#testing/hostile/caller.ts'
import { HOSTILES, type Size } from '#testing/hostile/hostiles.ts'
import { RULED_HOSTILES } from '#testing/hostile/ruled-hostiles.ts'

const { name, address, key, size } = workerData as {
  readonly name: string
  readonly address: string
  readonly key: string
  readonly size: Size
}
// On Linux, the priority applies only to this thread. The measuring thread has precedence on their core.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
const attack = (HOSTILES[name] ?? RULED_HOSTILES[name])!
const caller = new HostileClient(address, key, size.callers)
const statuses: Record<string, number> = {}
let turns = 0
const over = new AbortController()

async function goOn(): Promise<void> {
  while (!over.signal.aborted) {
    // If the connection is refused, the request has no status.
    const status = await attack(caller, size, turns++).catch(() => 'no answer')
    statuses[status] = (statuses[status] ?? 0) + 1
    if (status === 'no answer') await new Promise(resolve => setTimeout(resolve, 5))
  }
}

parentPort!.on('message', () => {
  over.abort()
  caller.close()
})
await Promise.all(Array.from({ length: size.callers }, goOn))
parentPort!.postMessage(statuses)
parentPort!.close()
