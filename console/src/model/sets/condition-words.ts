/** Formats conditions as one line of text. */
import { isObject } from '../../interface/json.ts'

interface Words {
  readonly and: string
  readonly or: string
  readonly not: string
  readonly always: string
  readonly never: string
}

const ALL = new Set(['allOf', 'and'])
const ANY = new Set(['anyOf', 'or'])

/** Returns about `lengthMax` characters at most. */
export function conditionWords(conditions: unknown, words: Words, lengthMax = 160): string {
  let room = lengthMax
  const spend = (text: string): string => {
    room -= text.length
    return text
  }
  /** Joins the parts with a word. Parts beyond the maximum length are replaced by an ellipsis. */
  const joined = (parts: readonly (() => string)[], word: string, isInner: boolean): string => {
    const texts: string[] = []
    for (const part of parts) {
      if (room <= 0) {
        texts.push('…')
        break
      }
      texts.push(part())
      room -= word.length + 2
    }
    const text = texts.join(` ${word} `)
    return isInner && parts.length > 1 ? `(${text})` : text
  }
  const several = (
    value: unknown,
    word: string,
    none: string,
    one: (value: unknown, isInner: boolean) => string,
    isInner: boolean,
  ): string => {
    const list = Array.isArray(value) ? value : [value]
    if (list.length === 0) return spend(none)
    return joined(
      list.map(each => () => one(each, list.length > 1 || isInner)),
      word,
      isInner,
    )
  }
  const members = (
    value: unknown,
    one: (key: string, value: unknown, isInner: boolean) => string,
    isInner: boolean,
  ): string => {
    if (!isObject(value)) return spend(JSON.stringify(value))
    const entries = Object.entries(value)
    if (entries.length === 0) return spend(words.always)
    const parts = entries.map(
      ([key, member]) =>
        () =>
          one(key, member, isInner || entries.length > 1),
    )
    return joined(parts, words.and, isInner)
  }
  const connective = (
    key: string,
    value: unknown,
    one: (value: unknown, isInner: boolean) => string,
    isInner: boolean,
  ): string | null => {
    if (ALL.has(key)) return several(value, words.and, words.always, one, isInner)
    if (ANY.has(key)) return several(value, words.or, words.never, one, isInner)
    if (key === 'not') return `${spend(words.not)} ${several(value, words.and, words.always, one, true)}`
    return null
  }
  const condition = (value: unknown, isInner: boolean): string =>
    members(
      value,
      (key, member, inner) =>
        connective(key, member, condition, inner) ?? `${spend(key)} ${test(member, true)}`,
      isInner,
    )
  const test = (value: unknown, isInner: boolean): string =>
    members(
      value,
      (key, member, inner) =>
        connective(key, member, test, inner) ?? `${spend(key)} ${spend(operandWords(member))}`,
      isInner,
    )
  return condition(conditions, false)
}

/**
 * Operand of a test: a value or a reference to another attribute. Empty if the test has conditions on the
 * members of a list and no operand.
 */
export function operandWords(value: unknown): string {
  if (value === undefined) return ''
  if (isObject(value) && typeof value['ref'] === 'string' && Object.keys(value).length === 1)
    return value['ref']
  const text = JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}
