/**
 * Requests and responses of Kong's Open Policy Agent plugin (conditions.md 10.6). Members not listed here are
 * ignored.
 */
import { Type, type Static } from 'typebox'
import { optional } from './building-blocks.ts'

export const KongQuery = Type.Object({
  input: Type.Object({
    request: Type.Object({
      http: Type.Object({
        method: Type.String({ minLength: 1, description: 'In lower case it is the action.' }),
        path: Type.String({
          description: 'Says the resource: `/v<n>/<type>…`, else `/<type>…`; `/` is the resource `index`.',
        }),
      }),
    }),
    consumer: optional(
      Type.Object({
        username: optional(Type.String({ description: 'The key of the user. Without one it is denied.' })),
      }),
    ),
  }),
})
export type KongQuery = Static<typeof KongQuery>

export const KongResult = Type.Object({ result: Type.Boolean() })
