/** Draft of a condition set in the editor. */
import type { Schemas } from '../../interface/client.ts'
import { isObject, parsedJson } from '../../interface/json.ts'

export type ConditionSet = Schemas['ConditionSet']
export type SetType = ConditionSet['type']
export type Conditions = ConditionSet['conditions']

export interface SetDraft {
  readonly key: string
  readonly name: string
  readonly description: string
  readonly type: SetType
  /** Key of the resource type to which the set is limited; empty for none. */
  readonly resource: string
  /** Key of the parent set; empty for none. */
  readonly parent: string
  /** The conditions as JSON text. */
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

/** `parent` is the key of the parent set, or null if the set has no parent. */
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

/** Parses JSON. If the text is not valid, returns the position of the error. */
export function readJson(text: string): ReadJson {
  try {
    return { value: parsedJson(text) }
  } catch (error) {
    return { faultAt: faultPlace(text, String(error)) }
  }
}

/** Position of an error in the text. Browsers report it only as a part of the error message. */
function faultPlace(text: string, message: string): number {
  const position = /position (\d+)/.exec(message)
  if (position) return Math.min(Number(position[1]), text.length)
  const place = /line (\d+) column (\d+)/.exec(message)
  if (!place) return text.length
  const before = text.split('\n').slice(0, Number(place[1]) - 1)
  return Math.min(before.join('\n').length + Number(place[2]), text.length)
}

/** Parses a JSON object. Returns undefined if the text is not a JSON object, and null if it is empty. */
export function readObject(text: string): Record<string, unknown> | null | undefined {
  if (text.trim() === '') return null
  const read = readJson(text)
  const value = 'value' in read ? read.value : undefined
  return isObject(value) ? value : undefined
}

/** Request body for a change of the set. It contains no conditions if they are not valid JSON. */
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

/** Names of the fields in which two drafts differ. The formatting of conditions is ignored. */
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

/** Suggests a key for a name. */
export function keyOfName(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .toLowerCase()
    .slice(0, 60)
}
