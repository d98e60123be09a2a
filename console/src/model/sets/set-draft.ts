/** A condition set as it is being written. */
import type { Schemas } from '../../interface/client.ts'
import { parsedJson } from '../../interface/json.ts'

export type ConditionSet = Schemas['ConditionSet']
export type SetType = ConditionSet['type']
export type Conditions = ConditionSet['conditions']

export interface SetDraft {
  readonly key: string
  readonly name: string
  readonly description: string
  readonly type: SetType
  /** The key of the resource it is limited to; empty: none. */
  readonly resource: string
  /** The key of the set above; empty: none. */
  readonly parent: string
  /** The conditions, in JSON. */
  readonly text: string
}

export const NEW_SET: SetDraft = {
  key: '',
  name: '',
  description: '',
  type: 'userset',
  resource: '',
  parent: '',
  text: '{\n  \n}',
}

/** `parent`: the key of the set above; null: there is none. */
export function draftOf(set: ConditionSet, parent: string | null): SetDraft {
  return {
    key: set.key,
    name: set.name,
    description: set.description ?? '',
    type: set.type,
    resource: set.resource?.key ?? '',
    parent: parent ?? '',
    text: written(set.conditions),
  }
}

export function written(conditions: unknown): string {
  return JSON.stringify(conditions, null, 2)
}

type ReadJson = { readonly value: unknown } | { readonly faultAt: number }

/** What a text of JSON says, or where it stops being one. */
export function readJson(text: string): ReadJson {
  try {
    return { value: parsedJson(text) }
  } catch (error) {
    return { faultAt: faultPlace(text, String(error)) }
  }
}

/** Browsers tell the place in words. */
function faultPlace(text: string, said: string): number {
  const position = /position (\d+)/.exec(said)
  if (position) return Math.min(Number(position[1]), text.length)
  const place = /line (\d+) column (\d+)/.exec(said)
  if (!place) return text.length
  const before = text.split('\n').slice(0, Number(place[1]) - 1)
  return Math.min(before.join('\n').length + Number(place[2]), text.length)
}

/** An object of JSON; undefined: it is none; null: nothing is written. */
export function readObject(text: string): Record<string, unknown> | null | undefined {
  if (text.trim() === '') return null
  const read = readJson(text)
  const value = 'value' in read ? read.value : undefined
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}

/** What a change of the set has to say; of conditions that are no JSON, none. */
export function changesOf(draft: SetDraft) {
  const read = readJson(draft.text)
  return {
    name: draft.name,
    description: draft.description === '' ? null : draft.description,
    parent_id: draft.parent === '' ? null : draft.parent,
    ...('value' in read && { conditions: read.value as Conditions }),
  }
}

export function bodyOf(draft: SetDraft) {
  const isLimited = draft.type === 'resourceset' && draft.resource !== ''
  return {
    key: draft.key,
    type: draft.type,
    ...(isLimited && { resource_id: draft.resource }),
    ...changesOf(draft),
  }
}

/** The fields in which two differ; how conditions are written does not count. */
export function differences(one: SetDraft, other: SetDraft): (keyof SetDraft)[] {
  const fields = ['name', 'description', 'parent', 'text'] as const
  return fields.filter(field =>
    field === 'text' ? meaning(one.text) !== meaning(other.text) : one[field] !== other[field],
  )
}

function meaning(text: string): string {
  const read = readJson(text)
  return 'value' in read ? JSON.stringify(read.value) : text
}

/** A key made of a name: what most people would type. */
export function keyOfName(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .toLowerCase()
    .slice(0, 60)
}
