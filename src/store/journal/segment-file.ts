/**
 * A file of the journal. Its room is written before it is used, so that a record that has room cannot meet a full disk, and
 * writing it changes nothing but its bytes.
 */
import { constants } from 'node:fs'
import { type FileHandle, open, readFile, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** How much room is made at once. */
const ROOM_BYTES = 262_144
const ZEROS = Buffer.alloc(ROOM_BYTES)
const FLAGS = constants.O_RDWR | constants.O_CREAT

export class SegmentFile {
  readonly path: string
  readonly #isFlushed: boolean
  /** Whether the name of the file is on the disk, too. */
  #isNamed = false
  #file: FileHandle | null = null
  #roomBytes = 0

  /** `isFlushed: false` leaves the disk to the operating system: what is written outlives the process, but not the machine. */
  constructor(path: string, { isFlushed = true }: { readonly isFlushed?: boolean } = {}) {
    this.path = path
    this.#isFlushed = isFlushed
  }

  /** Bytes that may be written. */
  get roomBytes(): number {
    return this.#roomBytes
  }

  /** Makes the file at least so long. Throws what the disk says; there is as much room then as before. */
  async makeRoom(bytes: number): Promise<void> {
    // Each write is on the disk when it is done: one call where a write and a flush would be two.
    this.#file ??= await open(this.path, this.#isFlushed ? FLAGS | constants.O_DSYNC : FLAGS, 0o600)
    // Before there is room: without its name what is written would be lost with the machine.
    if (this.#isFlushed && !this.#isNamed) await flushDirectory(dirname(this.path))
    this.#isNamed = true
    while (this.#roomBytes < bytes) {
      await writeWhole(this.#file, ZEROS, this.#roomBytes)
      this.#roomBytes += ROOM_BYTES
    }
  }

  /** Writes into room that was made. Resolves when the bytes are on the disk. */
  async write(bytes: Uint8Array, position: number): Promise<void> {
    await writeWhole(this.#file!, bytes, position)
  }

  /** Writes these bytes again, from the start on, if the file has come to hold others. */
  async mend(bytes: Uint8Array): Promise<void> {
    const found = await readFile(this.path)
    if (!found.subarray(0, bytes.length).equals(bytes)) await this.write(bytes, 0)
  }

  /** Leaves the file where it is. Safe to repeat. */
  async close(): Promise<void> {
    const file = this.#file
    this.#file = null
    this.#roomBytes = 0
    await file?.close()
  }

  /** Closes it, too. Safe to repeat. */
  async remove(): Promise<void> {
    await this.close()
    this.#isNamed = false
    await rm(this.path, { force: true })
  }
}

/** The name of a new file is on disk when its directory is. */
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
