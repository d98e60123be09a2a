/**
 * Log of the process: JSON lines on standard error. Standard output is reserved for text that people read.
 */
import { pino, destination, type Logger } from 'pino'

export type { Logger }

/** Maximum number of bytes that wait while standard error cannot be written. Further lines are lost. */
const WAITING_BYTES_MAX = 1_048_576

/**
 * Creates the logger. It writes synchronously, because lines are rare and the last line before an exit is the
 * most important one.
 */
export function createLog(level: string): Logger {
  const output = destination({ fd: 2, sync: true, maxLength: WAITING_BYTES_MAX })
  // A write can fail because the terminal was closed or the disk is full. The process must continue.
  output.on('error', () => {})
  return pino({ level, base: { service: 'verdict' } }, output)
}
