/** Pause before a client connects to Redis again after its connection was lost. */
import { backoffMs } from './backoff.ts'

const RECONNECT_MS_MIN = 50
const RECONNECT_MS_MAX = 2_000

export function reconnectPauseMs(attempt: number): number {
  return backoffMs(attempt, RECONNECT_MS_MIN, RECONNECT_MS_MAX)
}
