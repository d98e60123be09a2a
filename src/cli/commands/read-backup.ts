/** Reads a backup (`model/backup.ts`) and verifies each of its files. */
import { createHash } from 'node:crypto'
import { Check } from 'typebox/schema'
import { BACKUP_FORMAT, BACKUP_MANIFEST_BYTES_MAX, BackupManifest } from '#model/backup.ts'
import { EncodingError, utf8Text } from '#model/text/utf8-text.ts'
import { UsageError } from '#cli/session/exit-codes.ts'

/** Receiver for the files of a backup. The files arrive one after another. */
export interface BackupSink {
  /** Starts a file. */
  begin(path: string): Promise<void>
  write(bytes: Uint8Array): Promise<void>
  /** Ends the current file. Called after the digest of the file was verified. */
  end(): Promise<void>
}

const NOWHERE: BackupSink = { begin: async () => {}, write: async () => {}, end: async () => {} }
const LINE_FEED = 10
/** Maximum number of characters of an unexpected first line that a message quotes. */
const LINE_SHOWN_MAX = 40

/**
 * Returns the manifest if the backup is complete. Throws `UsageError` if it is incomplete or not a backup.
 */
export async function readBackup(
  pieces: AsyncIterable<Uint8Array>,
  sink: BackupSink = NOWHERE,
): Promise<BackupManifest> {
  const bytes = new ByteReader(pieces)
  const manifest = manifestIn(await bytes.line())
  for (const { path, bytes: length, sha256 } of manifest.files) {
    const digest = createHash('sha256')
    await sink.begin(path)
    for (let left = length; left > 0;) {
      const piece = await bytes.next(left)
      if (piece === null)
        throw new UsageError(`the backup is truncated: ${left} bytes of ${path} are missing`)
      digest.update(piece)
      await sink.write(piece)
      left -= piece.length
    }
    if (digest.digest('hex') !== sha256)
      throw new UsageError(`the backup is damaged: the digest of ${path} differs from the manifest`)
    await sink.end()
  }
  if ((await bytes.next(1)) !== null)
    throw new UsageError('the backup is damaged: data follows the last file of its manifest')
  return manifest
}

function manifestIn(line: Uint8Array | null): BackupManifest {
  let manifest: unknown = null
  try {
    manifest = JSON.parse(line === null ? '' : utf8Text(line))
  } catch (error) {
    if (error instanceof EncodingError) throw new UsageError(`the backup:${error.message}`)
    // The text is not JSON. The next line reports this.
  }
  if (!Check(BackupManifest, manifest)) {
    const given = line === null ? 'no complete line' : JSON.stringify(utf8Text(line).slice(0, LINE_SHOWN_MAX))
    throw new UsageError(
      `this is not a Verdict backup: expected its manifest in the first line, got ${given}`,
    )
  }
  if (manifest.format !== BACKUP_FORMAT) {
    const { format, version } = manifest
    throw new UsageError(
      `the backup has format ${format}, but this release reads format ${BACKUP_FORMAT}; restore it with release ${version}`,
    )
  }
  return manifest
}

/** Reads bytes from pieces of any size. */
class ByteReader {
  readonly #pieces: AsyncIterator<Uint8Array>
  #rest: Uint8Array = new Uint8Array(0)

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.#pieces = pieces[Symbol.asyncIterator]()
  }

  /** Returns at least one and at most `max` of the next bytes. Returns null at the end. */
  async next(max: number): Promise<Uint8Array | null> {
    while (this.#rest.length === 0) {
      const step = await this.#pieces.next()
      if (step.done) return null
      this.#rest = step.value
    }
    const taken = this.#rest.subarray(0, max)
    this.#rest = this.#rest.subarray(taken.length)
    return taken
  }

  /**
   * Returns the bytes up to the first line feed. Returns null if the line is longer than the maximum length
   * of a manifest, or if there is no line feed.
   */
  async line(): Promise<Uint8Array | null> {
    const parts: Uint8Array[] = []
    let length = 0
    while (length <= BACKUP_MANIFEST_BYTES_MAX) {
      const piece = await this.next(BACKUP_MANIFEST_BYTES_MAX)
      if (piece === null) return null
      const end = piece.indexOf(LINE_FEED)
      parts.push(end < 0 ? piece : piece.subarray(0, end))
      if (end >= 0) {
        this.#rest = Buffer.concat([piece.subarray(end + 1), this.#rest])
        return Buffer.concat(parts)
      }
      length += piece.length
    }
    return null
  }
}
