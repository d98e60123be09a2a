/**
 * A backup of an embedded store as a stream of bytes:
 *
 *     manifest, JSON on one line │ line feed │ the files, one after the other, in the order and of the lengths that it names
 *
 * Nothing follows. A digest for each file says whether it is whole.
 */
import { type Static, Type } from 'typebox'

/** Raised when earlier releases could no longer restore what this one writes. */
export const BACKUP_FORMAT = 1
export const BACKUP_TYPE = 'application/octet-stream'
/** The manifest of a thousand environments takes a fifth of it. */
export const BACKUP_MANIFEST_BYTES_MAX = 1_048_576

export const BackupManifest = Type.Object({
  kind: Type.Literal('verdict-backup'),
  format: Type.Integer(),
  /** The release that wrote it. */
  version: Type.String(),
  at: Type.String(),
  files: Type.Array(
    Type.Object({
      /** Below the directory of the store. */
      path: Type.String({ pattern: '^[0-9a-z-]{1,64}/data\\.mdb$' }),
      bytes: Type.Integer({ minimum: 0 }),
      sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    }),
  ),
})

export type BackupManifest = Static<typeof BackupManifest>
