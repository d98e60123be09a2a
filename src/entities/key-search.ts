/**
 * API schemas of key search. It finds entities whose key, name or e-mail address contains a text. A search
 * can take several requests.
 */
import { Type, type Static } from 'typebox'
import {
  COMPLETIONS_DEFAULT,
  COMPLETIONS_MAX,
  KEY_SEARCH_ROWS_MAX,
  LONG_KEY_BYTES_MAX,
} from '#model/limits.ts'
import { environmentPath, Reference } from '#model/wire/references.ts'
import { nullable } from '#model/wire/common-fields.ts'
import { KeyCompletion } from './key-completion.ts'

const SearchedKind = Type.Union(
  [Type.Literal('user'), Type.Literal('tenant'), Type.Literal('resource_instance'), Type.Literal('group')],
  { description: 'Kind of the entities.' },
)
export type SearchedKind = Static<typeof SearchedKind>

export const KeySearchPath = Type.Object(environmentPath)
export const KeySearchQuery = Type.Object({
  kind: SearchedKind,
  text: Type.Optional(
    Type.String({
      maxLength: LONG_KEY_BYTES_MAX,
      default: '',
      description:
        'Part of the key, the name or the e-mail address. Case-insensitive; `*` matches any characters.',
    }),
  ),
  resource: Type.Optional({
    ...Reference,
    description:
      'For instances and groups: only those of this resource, by key or id. Absent: those of all resources.',
  }),
  tenant: Type.Optional({
    ...Reference,
    description:
      'For instances and groups: only those of this tenant, by key or id. Absent: those of all tenants.',
  }),
  after: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        'Position at which the search continues: the `next` of the previous response. Absent: the start.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: COMPLETIONS_MAX,
      default: COMPLETIONS_DEFAULT,
      description: 'Maximum number of entities in the response.',
    }),
  ),
})
export type KeySearchQuery = Static<typeof KeySearchQuery>

export const KeySearch = Type.Object({
  data: Type.Array(KeyCompletion, {
    description: 'In the order of their creation. The list can be empty even if the search continues.',
  }),
  next: nullable(
    Type.Integer(),
    `Value of \`after\` with which the search continues: one request examines at most ${KEY_SEARCH_ROWS_MAX} entities. Null: the search is complete.`,
  ),
})
export type KeySearch = Static<typeof KeySearch>
