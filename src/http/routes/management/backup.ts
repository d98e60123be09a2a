/** Online backup of the whole embedded store. Requires an organization key. */
import { Type } from 'typebox'
import { REVISION } from '#http/message/header-fields.ts'
import { RawPieces } from '#http/message/request-reply.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import { assert } from '#model/assert.ts'
import { BACKUP_TYPE } from '#model/backup.ts'
import { type ManagementGateway, plainNames } from './managed.ts'

export function backupRoute(gateway: ManagementGateway): Route {
  return defineRoute({
    method: 'POST',
    path: '/v2/backup',
    operationId: 'backUp',
    level: 'admin',
    summary: 'Back up the embedded store, including API keys, for `verdict restore`',
    family: 'management',
    access: 'organization',
    refusals: [400],
    responses: {
      200: {
        description: 'A manifest in the first line, followed by the files that it lists.',
        schema: Type.String(),
        contentType: BACKUP_TYPE,
        headers: [REVISION],
      },
    },
    handle: async ({ principal, names, caller }) => {
      assert(principal, 'a management route has a caller')
      const request = { about: 'backup', operation: 'backUp', principal, ...plainNames(names) } as const
      const { pieces, revision } = await gateway.execute(request, { caller, isRead: true })
      assert(pieces, 'a backup comes in pieces')
      return {
        status: 200,
        body: await RawPieces.begun(pieces),
        headers: { 'content-type': BACKUP_TYPE, 'x-revision': revision },
      }
    },
  })
}
