/** The process's log: JSON lines on standard error, so that standard output stays for people. */
import { pino, destination, type Logger } from 'pino'

export type { Logger }

/** Synchronous: lines are rare (starts, state changes, faults) and the last one before an exit matters most. */
export function createLog(level: string): Logger {
  return pino({ level, base: { service: 'verdict' } }, destination({ fd: 2, sync: true }))
}
