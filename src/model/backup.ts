/**
 * Format of a backup of an embedded store, a stream of bytes:
 *
 *     manifest, JSON on one line │ line feed │ the files, in the order and with the lengths in the manifest
 *
 * Nothing follows. The manifest has a digest of each file to verify it.
 */
import { type Static, Type } from 'typebox'

/** Incremented when earlier releases can no longer restore the backups of this release. */
export const BACKUP_FORMAT = 1
export const BACKUP_TYPE = 'application/octet-stream'
/** The manifest of a thousand environments takes a fifth of this. */
export const BACKUP_MANIFEST_BYTES_MAX = 1_048_576

export const BackupManifest = Type.Object({
  kind: Type.Literal('verdict-backup'),
  format: Type.Integer(),
  /** The release that wrote the backup. */
  version: Type.String(),
  at: Type.String(),
  files: Type.Array(
    Type.Object({
      /** Path relative to the directory of the store. */
      path: Type.String({ pattern: '^[0-9a-z-]{1,64}/data\\.mdb$' }),
      bytes: Type.Integer({ minimum: 0 }),
      sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    }),
  ),
})

export type BackupManifest = Static<typeof BackupManifest>
