/**
 * API schemas of the requests and responses of Kong's Open Policy Agent plugin (conditions.md 10.6). Members
 * that are not listed here are ignored.
 */
import { Type, type Static } from 'typebox'
import { optional } from '#model/wire/common-fields.ts'

export const KongQuery = Type.Object({
  input: Type.Object({
    request: Type.Object({
      http: Type.Object({
        method: Type.String({ minLength: 1, description: 'The action is this method in lower case.' }),
        path: Type.String({
          description:
            'Determines the resource: `/v<n>/<type>…`, otherwise `/<type>…`; `/` is the resource `index`.',
        }),
      }),
    }),
    consumer: optional(
      Type.Object({
        username: optional(Type.String({ description: 'Key of the user. If absent, access is denied.' })),
      }),
    ),
  }),
})
export type KongQuery = Static<typeof KongQuery>

export const KongResult = Type.Object({ result: Type.Boolean() })
