/**
 * A file of the journal. Space is allocated before a record needs it. Therefore writing a record cannot fail
 * on a full disk, and changes only bytes inside the file.
 */
import { constants } from 'node:fs'
import { type FileHandle, open, readFile, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Number of bytes that are allocated at a time. */
const ALLOCATION_BYTES = 262_144
const ZEROS = Buffer.alloc(ALLOCATION_BYTES)
const FLAGS = constants.O_RDWR | constants.O_CREAT

export class SegmentFile {
  readonly path: string
  readonly #isFlushed: boolean
  /** Whether the directory entry of the file is also on disk. */
  #isNamed = false
  #file: FileHandle | null = null
  #allocatedBytes = 0

  /**
   * `isFlushed: false` leaves flushing to the operating system: writes survive a crash of the process, but
   * not of the machine.
   */
  constructor(path: string, { isFlushed = true }: { readonly isFlushed?: boolean } = {}) {
    this.path = path
    this.#isFlushed = isFlushed
  }

  /** Number of bytes that are allocated and can be written. */
  get allocatedBytes(): number {
    return this.#allocatedBytes
  }

  /**
   * Extends the file to at least that length. If the disk rejects the extension, throws the error of the
   * disk, and the allocated space is unchanged.
   */
  async makeRoom(bytes: number): Promise<void> {
    // Each write is on disk when it completes: one system call instead of a write and a flush.
    this.#file ??= await open(this.path, this.#isFlushed ? FLAGS | constants.O_DSYNC : FLAGS, 0o600)
    // The directory is flushed before space is allocated: without its directory entry, the content of the
    // file would be lost if the machine crashed.
    if (this.#isFlushed && !this.#isNamed) await flushDirectory(dirname(this.path))
    this.#isNamed = true
    while (this.#allocatedBytes < bytes) {
      await writeWhole(this.#file, ZEROS, this.#allocatedBytes)
      this.#allocatedBytes += ALLOCATION_BYTES
    }
  }

  /** Writes into allocated space. Resolves when the bytes are on disk. */
  async write(bytes: Uint8Array, position: number): Promise<void> {
    await writeWhole(this.#file!, bytes, position)
  }

  /** Compares the file with these bytes. If they differ, writes the bytes again from the start. */
  async mend(bytes: Uint8Array): Promise<void> {
    const found = await readFile(this.path)
    if (!found.subarray(0, bytes.length).equals(bytes)) await this.write(bytes, 0)
  }

  /** Closes the file and keeps it. Idempotent. */
  async close(): Promise<void> {
    const file = this.#file
    this.#file = null
    this.#allocatedBytes = 0
    await file?.close()
  }

  /** Closes and removes the file. Idempotent. */
  async remove(): Promise<void> {
    await this.close()
    this.#isNamed = false
    await rm(this.path, { force: true })
  }
}

/** Flushes a directory, so that the names of its new files are on disk. */
async function flushDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

async function writeWhole(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let from = 0; from < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, from, bytes.length - from, position + from)
    from += bytesWritten
  }
}
