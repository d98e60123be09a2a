/**
 * Whether lmdb's file begins as lmdb's files do. It looks itself, but lmdb-js ends the process, without a word, over a file that
 * lmdb refuses.
 *
 *     page 0, 1   24 bytes │ magic │ … │ byte 48: size of a page, in 32 bits │ …
 */
import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { AuthzError } from '#model/errors.ts'

const NAME = 'data.mdb'
const MAGIC = 0xbeefc0de
const MAGIC_AT = 24
const PAGE_BYTES_AT = 48
const HEAD_BYTES = 52

/** Throws `STORE_UNAVAILABLE` when there is a file in that directory which cannot be opened. None, or an empty one, can. */
export function checkDataFile(directory: string): void {
  const file = join(directory, NAME)
  let descriptor
  try {
    descriptor = openSync(file, 'r')
  } catch {
    // That there is none is for lmdb to mend, and anything else for lmdb to say.
    return
  }
  try {
    const first = headAt(descriptor, 0)
    if (first.length === 0) return
    if (isHead(first) && isHead(headAt(descriptor, first.readUInt32LE(PAGE_BYTES_AT)))) return
  } finally {
    closeSync(descriptor)
  }
  const message = `${file} does not begin as a file of lmdb does: put a copy in its place that was made while no service had it open`
  throw new AuthzError('STORE_UNAVAILABLE', message)
}

function headAt(descriptor: number, position: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  return head.subarray(0, readSync(descriptor, head, 0, HEAD_BYTES, position))
}

function isHead(head: Buffer): boolean {
  return head.length === HEAD_BYTES && head.readUInt32LE(MAGIC_AT) === MAGIC
}
