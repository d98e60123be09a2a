/**
 * API schemas of key search: entities with a text in their key, name or e-mail address, searched in several
 * requests.
 */
import { Type, type Static } from 'typebox'
import {
  COMPLETIONS_DEFAULT,
  COMPLETIONS_MAX,
  KEY_SEARCH_ROWS_MAX,
  LONG_KEY_BYTES_MAX,
} from '#model/limits.ts'
import { environmentPath, nullable, Reference } from './building-blocks.ts'
import { KeyCompletion } from './key-completion.ts'

const SearchedKind = Type.Union(
  [Type.Literal('user'), Type.Literal('tenant'), Type.Literal('resource_instance'), Type.Literal('group')],
  { description: 'What is searched.' },
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
        'What the key, the name or the e-mail address has as a part. Case does not count, and `*` stands for any run of characters.',
    }),
  ),
  resource: Type.Optional({
    ...Reference,
    description: 'Of instances and groups: only those of this resource, by key or id. Absent: those of all.',
  }),
  tenant: Type.Optional({
    ...Reference,
    description: 'Of instances and groups: only those of this tenant, by key or id. Absent: those of all.',
  }),
  after: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        'Where the search goes on: what the answer before this one had as `next`. Absent: it begins.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: COMPLETIONS_MAX,
      default: COMPLETIONS_DEFAULT,
      description: 'The most things to answer.',
    }),
  ),
})
export type KeySearchQuery = Static<typeof KeySearchQuery>

export const KeySearch = Type.Object({
  data: Type.Array(KeyCompletion, {
    description: 'In the order in which they were made. There may be none although the search goes on.',
  }),
  next: nullable(
    Type.Integer(),
    `Where the search goes on, for \`after\`: one request looks at ${KEY_SEARCH_ROWS_MAX} things at most. Null: it has come to the end.`,
  ),
})
export type KeySearch = Static<typeof KeySearch>
