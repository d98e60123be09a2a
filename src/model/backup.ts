/**
 * Format of a backup of an embedded store, a stream of bytes:
 *
 *     manifest, JSON on one line │ line feed │ the files, in the order and with the lengths in the manifest
 *
 * Nothing follows. The manifest has a digest of each file to verify it.
 */
import { type Static, Type } from 'typebox'

/**
 * Version of the format. It is incremented when earlier releases cannot restore the backups of this release
 * any more.
 */
export const BACKUP_FORMAT = 1
export const BACKUP_TYPE = 'application/octet-stream'
/** Maximum size of a manifest in bytes. The manifest of a thousand environments takes a fifth of it. */
export const BACKUP_MANIFEST_BYTES_MAX = 1_048_576

/**
 * Name of an empty file in the directory of a restored store. The first start with it ends all sessions,
 * because sessions that ended after the backup would otherwise be valid again.
 */
export const RESTORED_MARKER = '.restored'

export const BackupManifest = Type.Object({
  kind: Type.Literal('verdict-backup'),
  format: Type.Integer(),
  /** Version of the release that wrote the backup. */
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
