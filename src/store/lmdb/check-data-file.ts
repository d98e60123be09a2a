/**
 * Checks that an lmdb file is valid and complete. lmdb itself checks only the beginning of a file, and
 * lmdb-js ends the process without a message if lmdb rejects the file. If an interrupted copy or a repaired
 * file system has truncated a file, lmdb maps missing pages. A process that reads such a page is killed by
 * SIGBUS.
 *
 *     page 0       meta, and in its second half the meta that was last flushed (lmdb-js)
 *     page 1       meta; the one with the newer transaction is valid
 *     meta, at 24  magic u32 │ version u32 │ address u64 │ map size u64 │
 *                  free tree, 48 bytes │ main tree, 48 bytes │
 *                  last page u64 │ transaction u64 │ boot id i64
 *     tree         page size u32 (in the free tree's) │ flags u16 │ … │ byte 40: root page u64
 *
 * The last page need not be in the file: pages that a transaction allocated and freed were never written.
 * Therefore, if a file ends before its last page, the free tree is read, which lists all unreferenced pages.
 */
import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { AuthzError } from '#model/errors.ts'
import { LostStoreError } from '#store/lost-store-error.ts'

const NAME = 'data.mdb'
const MAGIC = 0xbeefc0de
const PAGE_HEAD_BYTES = 24
const MAGIC_AT = PAGE_HEAD_BYTES
const FREE_TREE_AT = 48
const ROOT_AT = FREE_TREE_AT + 40
const LAST_PAGE_AT = 144
const TRANSACTION_AT = 152
const BOOT_AT = 160
const META_BYTES = 168
const TREE_FLAGS_AT = FREE_TREE_AT + 4
/** Flag of a tree. It means that the transaction of the tree was committed before its data was on disk. */
const NOT_FLUSHED = 0x1000
const NO_PAGE = 2n ** 64n - 1n

/** Flags of pages and of nodes in them. */
const BRANCH = 0x01
const IN_OTHER_PAGES = 0x01
const NODE_HEAD_BYTES = 8
/** Limit of the depth of a tree. No tree of 2^48 pages is deeper. */
const DEPTH_MAX = 32

/** An open file, and its size. */
interface File {
  readonly descriptor: number
  readonly bytes: number
}

interface Meta {
  readonly pageBytes: number
  readonly lastPage: number
  readonly transaction: bigint
  readonly bootId: bigint
  readonly isFlushed: boolean
  /** Root of the tree of free pages; null if there are none. */
  readonly freeRoot: number | null
}

/**
 * Throws `STORE_UNAVAILABLE` if that directory has a file that cannot be opened or is not complete. A missing
 * or empty file is accepted. O(1); for a file that ends before its last page, O(its free pages).
 */
export function checkDataFile(directory: string): void {
  const path = join(directory, NAME)
  let descriptor
  try {
    descriptor = openSync(path, 'r')
  } catch {
    // lmdb creates a missing file, and reports other errors itself.
    return
  }
  try {
    // The size is read after the content: another thread can have the file open and write to it
    // (`composition/node/replica-list-build.ts`), and it only grows.
    const file = {
      descriptor,
      get bytes() {
        return fstatSync(descriptor).size
      },
    }
    if (file.bytes > 0) checkFile(file, path)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Whether the directory has a data file with content. If the permission to stat the file is missing, returns
 * true, because the code that opens the file then reports the error.
 */
export function hasDataFile(directory: string): boolean {
  try {
    return (statSync(join(directory, NAME), { throwIfNoEntry: false })?.size ?? 0) > 0
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return true
    throw error
  }
}

/** Throws `STORE_DAMAGED` if the file is missing or empty. */
export function requireDataFile(directory: string): void {
  if (hasDataFile(directory)) return
  const path = join(directory, NAME)
  throw new LostStoreError(`${path} is missing or empty: restore a backup of its directory`)
}

function checkFile(file: File, path: string): void {
  const first = metaAt(file, 0)
  const second = first && metaAt(file, first.pageBytes)
  if (!first || !second) {
    const instead = 'replace it with a copy that was made while no service had it open'
    throw unavailable(`${path} is not a file of lmdb: ${instead}`)
  }
  const newest = first.transaction >= second.transaction ? first : second
  if (isWhole(file, newest)) return
  // After a crash of the machine, lmdb returns to the state that was last flushed.
  const flushed = metaAt(file, first.pageBytes / 2)
  if (!newest.isFlushed && newest.bootId !== presentBootId() && flushed && isWhole(file, flushed)) return
  const pages = `it has ${file.bytes} bytes, but its pages need ${(newest.lastPage + 1) * newest.pageBytes}`
  throw unavailable(`${path} is truncated: ${pages}; restore a backup of its directory`)
}

function unavailable(message: string): AuthzError {
  return new AuthzError('STORE_UNAVAILABLE', message)
}

/** Returns the meta at this position, or null if there is none. */
function metaAt(file: File, position: number): Meta | null {
  const bytes = read(file, position, META_BYTES)
  if (bytes === null || bytes.readUInt32LE(MAGIC_AT) !== MAGIC) return null
  const freeRoot = bytes.readBigUInt64LE(ROOT_AT)
  return {
    pageBytes: bytes.readUInt32LE(FREE_TREE_AT),
    lastPage: Number(bytes.readBigUInt64LE(LAST_PAGE_AT)),
    transaction: bytes.readBigUInt64LE(TRANSACTION_AT),
    bootId: bytes.readBigInt64LE(BOOT_AT),
    isFlushed: (bytes.readUInt16LE(TREE_FLAGS_AT) & NOT_FLUSHED) === 0,
    freeRoot: freeRoot === NO_PAGE ? null : Number(freeRoot),
  }
}

/** Whether the file contains all referenced pages. */
function isWhole(file: File, meta: Meta): boolean {
  const { pageBytes, lastPage } = meta
  const firstMissing = Math.floor(file.bytes / pageBytes)
  const missing = lastPage + 1 - firstMissing
  if (missing <= 0) return true
  let free = 0
  for (const run of freePages(file, meta)) {
    if (run === null) return false
    const [from, to] = [Math.max(run.from, firstMissing), Math.min(run.to, lastPage + 1)]
    free += Math.max(0, to - from)
  }
  return free === missing
}

/** Yields the runs of unreferenced pages. Yields null for a page that cannot be read. */
function* freePages(
  file: File,
  { freeRoot, pageBytes }: Meta,
): Iterable<{ readonly from: number; readonly to: number } | null> {
  const waiting = freeRoot === null ? [] : [{ page: freeRoot, depth: 1 }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const page = next.depth > DEPTH_MAX ? null : read(file, next.page * pageBytes, pageBytes)
    if (page === null) return yield null
    const isBranch = (page.readUInt16LE(18) & BRANCH) !== 0
    for (const node of nodesOf(page)) {
      if (isBranch) waiting.push({ page: node.readUIntLE(0, 6), depth: next.depth + 1 })
      else yield* runsIn(listOf(file, node, pageBytes))
    }
  }
}

/** Yields the nodes of a page, each as the bytes from its head to the end of the page. */
function* nodesOf(page: Buffer): Iterable<Buffer> {
  const count = page.readUInt16LE(20) >> 1
  for (let index = 0; index < count; index += 1) {
    const place = PAGE_HEAD_BYTES + 2 * index
    if (place + 2 > page.length) return
    const start = PAGE_HEAD_BYTES + page.readUInt16LE(place)
    if (start + NODE_HEAD_BYTES <= page.length) yield page.subarray(start)
  }
}

/**
 * Returns the list of pages in a node, stored in the node or in overflow pages, or null if it is not in the
 * file.
 */
function listOf(file: File, node: Buffer, pageBytes: number): Buffer | null {
  const bytes = node.readUInt32LE(0)
  const data = node.subarray(NODE_HEAD_BYTES + node.readUInt16LE(6))
  const isElsewhere = (node.readUInt16LE(4) & IN_OTHER_PAGES) !== 0
  if (!isElsewhere) return bytes <= data.length ? data.subarray(0, bytes) : null
  if (data.length < 8) return null
  return read(file, Number(data.readBigUInt64LE(0)) * pageBytes + PAGE_HEAD_BYTES, bytes)
}

/**
 * Decodes a list. It consists of a count, followed by this number of numbers. A positive number is a page. A
 * negative one is the length of a run whose first page follows. 0 has no meaning.
 */
function* runsIn(list: Buffer | null): Iterable<{ readonly from: number; readonly to: number } | null> {
  if (list === null || list.length < 8) return yield null
  const end = Math.min(Number(list.readBigUInt64LE(0)) + 1, Math.floor(list.length / 8))
  for (let index = 1; index < end; index += 1) {
    const number = Number(list.readBigInt64LE(8 * index))
    if (number > 0) yield { from: number, to: number + 1 }
    else if (number < 0 && index + 1 < end) {
      index += 1
      const from = Number(list.readBigUInt64LE(8 * index))
      yield { from, to: from - number }
    }
  }
}

/** Returns the bytes at this position, or null if the file is too short. */
function read({ descriptor, bytes }: File, position: number, length: number): Buffer | null {
  if (!Number.isSafeInteger(position) || position + length > bytes) return null
  const buffer = Buffer.alloc(length)
  return readSync(descriptor, buffer, 0, length, position) === length ? buffer : null
}

/**
 * Returns the boot id in the form that lmdb-js records: its first digits. Returns 0 if the system has no boot
 * id.
 */
function presentBootId(): bigint {
  try {
    const digits = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').split('-', 1)[0]
    return BigInt(`0x${digits}`)
  } catch {
    return 0n
  }
}
