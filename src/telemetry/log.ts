/** The process's log: JSON lines on standard error, so that standard output stays for people. */
import { pino, destination, type Logger } from 'pino'

export type { Logger }

/** Limit of the lines that wait because standard error cannot be written. Further lines are lost. */
const WAITING_BYTES_MAX = 1_048_576

/** Synchronous: lines are rare (starts, state changes, faults) and the last one before an exit matters most. */
export function createLog(level: string): Logger {
  const output = destination({ fd: 2, sync: true, maxLength: WAITING_BYTES_MAX })
  // The terminal was closed, or the disk is full: that must not end the process.
  output.on('error', () => {})
  return pino({ level, base: { service: 'verdict' } }, output)
}
