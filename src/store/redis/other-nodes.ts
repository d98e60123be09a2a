/**
 * Detects other running nodes before a node begins a new store in an empty Redis. If there are any, Redis has
 * lost its data, and the other nodes would replace their replicas by the new store.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { NodeHeartbeats } from '#store/node-heartbeats.ts'
import type { RedisStoreOptions } from './redis-store-options.ts'

const READ_EVERY_MS = 100
/** Maximum number of heartbeats per read. */
const HEARTBEATS_MAX = 10

/**
 * Whether another node publishes heartbeats. Waits for them, because Redis has lost these too. Nodes publish
 * heartbeats only after the store has begun, so nodes that begin at the same time do not see each other.
 */
export async function hasOtherNode(
  heartbeats: NodeHeartbeats,
  { newStoreWaitMs, log }: Pick<RedisStoreOptions, 'newStoreWaitMs' | 'log'>,
): Promise<boolean> {
  if (newStoreWaitMs === 0) return false
  log.info({ newStoreWaitMs }, 'Redis is empty: waiting for other nodes before a new store begins')
  const until = performance.now() + newStoreWaitMs
  do {
    await pause(READ_EVERY_MS)
    const { texts } = await heartbeats.read(HEARTBEATS_MAX)
    if (texts.size > 0) return true
  } while (performance.now() < until)
  return false
}
