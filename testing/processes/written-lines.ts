/**
 * Waits for lines of a decision log. When a service closes, it waits for the disk for a limited time only, so
 * that a test must wait before it closes the service.
 */
import { readFileSync } from 'node:fs'
import { pause } from './pause.ts'

/** Polls until the file contains `count` lines. */
export async function linesWritten(path: string, count: number): Promise<void> {
  while (readFileSync(path, 'utf8').split('\n').length <= count) await pause()
}
