/**
 * Saves indexes to files at shutdown and restores them at the next start. A file is used only if four
 * conditions hold: the same code wrote it, the tables next to it carry its mark, it belongs to their epoch,
 * and every byte is intact. Otherwise the file is deleted and the index is loaded from the tables.
 *
 *     magic 8 │ bytes of about u32 │ CRC-32 of about u32 │ about: JSON │
 *     header │ graph │ closures │ schema │ CRC-32 of the four u32
 *
 * The file is written under a temporary name and renamed when it is on disk. Then the tables receive its
 * mark. A crash in between leaves a file without a mark. The checksums protect only against accidents: a user
 * who can write to the data directory can change everything anyway.
 */
import { createHash, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { Regions, type RegionBytes } from '#engine/shared-index/memory/index-buffers.ts'
import { partsOf, type SavedIndex, type SavedState } from '#engine/shared-index/saved-index.ts'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import { AuthzError } from '#model/errors.ts'
import type { Revision } from '#model/revision.ts'
import type { StoreLog } from '#store/store-log.ts'
import type { SnapshotPlace } from '#store/snapshot-place.ts'
import type { KeptIndexes } from '#threads/indexes/shared-indexes.ts'
import { CODE_DIRECTORY, SOURCES_NOTE } from './built-form.ts'

const FILE = 'index.snapshot'
const MAGIC = Buffer.from('VERDICT1')
const PREAMBLE_BYTES = 16
const CRC_BYTES = 4
const PARTS = ['header', 'graph', 'closures', 'schema'] as const
/** Bytes read or written at a time. Their checksum takes a few milliseconds. */
const PIECE_BYTES = 4 * 1024 * 1024
/** Smaller indexes are not saved, because loading them is equally fast. */
const KEPT_BYTES_MIN = 1024 * 1024

interface About {
  /** Fingerprint of the code that wrote the file. */
  readonly code: string
  readonly mark: string
  readonly revision: Revision
  readonly bytes: RegionBytes
  readonly state: SavedState
}

export class SavedIndexFiles implements KeptIndexes {
  readonly #threadId: number
  readonly #log: StoreLog
  #code: string | null = null

  /** `threadId` is the id of the thread that writes indexes. */
  constructor(threadId: number, log: StoreLog) {
    this.#threadId = threadId
    this.#log = log
  }

  async read(
    environmentId: string,
    place: SnapshotPlace,
    epoch: string,
  ): Promise<{ readonly revision: Revision; readonly writer: SharedIndexWriter } | null> {
    try {
      const found = await this.#read(place, epoch)
      const fields = { environment: environmentId, sequence: found?.revision.sequence }
      if (found) this.#log.info(fields, 'the index was loaded from its snapshot')
      return found
    } catch (error) {
      this.#log.warn({ environment: environmentId, err: error }, 'the snapshot of an index was discarded')
      return null
    }
  }

  async write(
    { environmentId, revision, saved }: Parameters<KeptIndexes['write']>[0],
    place: SnapshotPlace,
    until: number,
  ): Promise<void> {
    try {
      await this.#write(place, { revision, saved: saved as SavedIndex }, until)
    } catch (error) {
      this.#log.warn({ environment: environmentId, err: error }, 'the snapshot of an index was not written')
    }
  }

  async #read(
    place: SnapshotPlace,
    epoch: string,
  ): Promise<{ readonly revision: Revision; readonly writer: SharedIndexWriter } | null> {
    const mark = place.mark()
    if (mark === null) return null
    const path = join(place.directory, FILE)
    const file = await open(path, 'r').catch(() => null)
    if (!file) return null
    try {
      const { about, start } = await readAbout(file)
      if (about.mark !== mark || about.code !== this.#fingerprint() || about.revision.epoch !== epoch) {
        throw new AuthzError('INTERNAL', 'it belongs to another epoch or another release')
      }
      const handle = Regions.emptyHandle(about.bytes)
      await readParts(file, partsOf(handle, about.bytes), start)
      const restored = { handle, state: about.state }
      return {
        revision: about.revision,
        writer: SharedIndexWriter.restore({ threadId: this.#threadId }, restored),
      }
    } catch (error) {
      await rm(path, { force: true })
      throw error
    } finally {
      await file.close()
    }
  }

  /**
   * Saves the index unless it is small. The index must not change in the meantime. Throws if saving takes
   * longer than `until`.
   */
  async #write(
    place: SnapshotPlace,
    { revision, saved }: { readonly revision: Revision; readonly saved: SavedIndex },
    until: number,
  ): Promise<void> {
    const { parts, state } = saved
    if (parts.graph.length < KEPT_BYTES_MIN) return
    const mark = randomUUID()
    const bytes = {
      header: parts.header.length,
      graph: parts.graph.length,
      closures: parts.closures.length,
      schema: parts.schema.length,
    }
    const path = join(place.directory, FILE)
    const draft = `${path}.draft`
    const file = await open(draft, 'w', 0o600)
    try {
      await writeAll(file, { code: this.#fingerprint(), mark, revision, bytes, state }, parts, until)
      await file.sync()
      await rename(draft, path)
    } finally {
      await file.close()
      await rm(draft, { force: true })
    }
    await place.setMark(mark)
  }

  #fingerprint(): string {
    this.#code ??= fingerprintOf(CODE_DIRECTORY)
    return this.#code
  }
}

/** Hash of every file of the code, because many of them determine the meaning of the numbers in an index. */
function fingerprintOf(directory: string): string {
  const hash = createHash('sha256').update(process.arch)
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter(
    file => file.isFile() && file.name !== SOURCES_NOTE,
  )
  for (const path of files.map(({ parentPath, name }) => join(parentPath, name)).toSorted()) {
    const content = readFileSync(path)
    hash.update(`${path.slice(directory.length)} ${content.length} `).update(content)
  }
  return hash.digest('hex')
}

async function readAbout(file: FileHandle): Promise<{ readonly about: About; readonly start: number }> {
  const preamble = await readExactly(file, Buffer.alloc(PREAMBLE_BYTES), 0)
  if (!preamble.subarray(0, MAGIC.length).equals(MAGIC)) throw damaged()
  const aboutBytes = preamble.readUInt32LE(MAGIC.length)
  const size = (await file.stat()).size
  if (aboutBytes > size) throw damaged()
  const json = await readExactly(file, Buffer.alloc(aboutBytes), PREAMBLE_BYTES)
  if (crc32(json) !== preamble.readUInt32LE(MAGIC.length + 4)) throw damaged()
  const about = JSON.parse(json.toString('utf8')) as About
  const start = PREAMBLE_BYTES + aboutBytes
  const partBytes = PARTS.reduce((sum, part) => sum + about.bytes[part], 0)
  if (size !== start + partBytes + CRC_BYTES) throw damaged()
  return { about, start }
}

async function readParts(file: FileHandle, parts: SavedIndex['parts'], start: number): Promise<void> {
  let position = start
  let crc = 0
  for (const piece of piecesOf(parts)) {
    await readExactly(file, piece, position)
    crc = crc32(piece, crc)
    position += piece.length
  }
  const trailer = await readExactly(file, Buffer.alloc(CRC_BYTES), position)
  if (trailer.readUInt32LE() !== crc) throw damaged()
}

async function writeAll(
  file: FileHandle,
  about: About,
  parts: SavedIndex['parts'],
  until: number,
): Promise<void> {
  const json = Buffer.from(JSON.stringify(about))
  const preamble = Buffer.alloc(PREAMBLE_BYTES)
  MAGIC.copy(preamble)
  preamble.writeUInt32LE(json.length, MAGIC.length)
  preamble.writeUInt32LE(crc32(json), MAGIC.length + 4)
  await file.appendFile(preamble)
  await file.appendFile(json)
  let crc = 0
  for (const piece of piecesOf(parts)) {
    if (performance.now() > until) throw new AuthzError('INTERNAL', 'not enough time left to write it')
    crc = crc32(piece, crc)
    await file.appendFile(piece)
  }
  const trailer = Buffer.alloc(CRC_BYTES)
  trailer.writeUInt32LE(crc)
  await file.appendFile(trailer)
}

function* piecesOf(parts: SavedIndex['parts']): Iterable<Uint8Array> {
  for (const part of PARTS) {
    const bytes = parts[part]
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES)
  }
}

async function readExactly<Bytes extends Uint8Array>(
  file: FileHandle,
  into: Bytes,
  position: number,
): Promise<Bytes> {
  for (let at = 0; at < into.length;) {
    const { bytesRead } = await file.read(into, at, into.length - at, position + at)
    if (bytesRead === 0) throw damaged()
    at += bytesRead
  }
  return into
}

function damaged(): AuthzError {
  return new AuthzError('INTERNAL', 'it is damaged')
}
