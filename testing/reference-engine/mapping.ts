/**
 * Mapping rules, literally as the contract has them (conditions, section 10.3): each rule is held against the URL, one after the other,
 * both split anew for each.
 */
import type { MappedRequest } from '#engine/engine.ts'
import type { MappingPut, MappingRule } from '#model/change.ts'
import { ASKED_QUERY_MEMBERS_MAX } from '#model/limits.ts'
import { MAPPING_METHODS, readMappingUrl } from '#model/mapping-urls.ts'

interface Parts {
  readonly segments: readonly string[]
  readonly query: readonly (readonly [name: string, value: string])[]
}

export class Mapping {
  readonly #configs = new Map<string, MappingPut>()

  put(put: MappingPut): void {
    this.#configs.set(put.config, put)
  }

  remove(config: string): void {
    this.#configs.delete(config)
  }

  find(method: string, url: string): MappedRequest | null {
    const oldestFirst = [...this.#configs.values()].toSorted(
      (one, other) => one.createdAt - other.createdAt || (one.config < other.config ? -1 : 1),
    )
    const rules = oldestFirst
      .flatMap(config => config.rules)
      .filter(rule => MAPPING_METHODS.includes(rule.method) && rule.method === method.toLowerCase())
      .filter(({ url: ruled }) => typeof readMappingUrl(ruled) !== 'string')
      .toSorted((one, other) => other.priority - one.priority || other.url.length - one.url.length)
    for (const rule of rules) {
      const fit = fitOf(rule, url)
      if (fit === 'ambiguous') return null
      if (fit !== null) return { type: rule.type, action: rule.action ?? rule.method, attributes: fit }
    }
    return null
  }
}

/** What the placeholders stand for; null: it does not fit. */
function fitOf(rule: MappingRule, url: string): Record<string, string> | 'ambiguous' | null {
  const wanted = partsOf(rule.url)!
  const asked = partsOf(url)
  if (asked === null || asked.segments.length !== wanted.segments.length) return null
  const captured: [string, string][] = []
  for (const [index, raw] of wanted.segments.entries()) {
    const segment = asked.segments[index]!
    const anyCase = index !== 1 && index < 3 && wanted.segments[1] === '' && asked.segments[1] === ''
    const value = anyCase ? decodeURIComponent(segment).toLowerCase() : decodeURIComponent(segment)
    const name = placeholderIn(raw)
    if (name === null) {
      const text = anyCase ? decodeURIComponent(raw).toLowerCase() : decodeURIComponent(raw)
      if (text !== value) return null
    } else if (value === '') return null
    else captured.push([name, value])
  }
  if (wanted.query.length > 0 && asked.query.length > ASKED_QUERY_MEMBERS_MAX) return 'ambiguous'
  let isAmbiguous = false
  for (const [rawName, raw] of wanted.query) {
    const values = asked.query
      .filter(([name]) => fromForm(name) === fromForm(rawName))
      .map(([, value]) => fromForm(value))
    const name = placeholderIn(raw)
    const isThere = name === null ? values.includes(fromForm(raw)) : values.length > 0
    if (!isThere) return null
    if (new Set(values).size > 1) isAmbiguous = true
    if (name !== null) captured.push([name, values[0]!])
  }
  return isAmbiguous ? 'ambiguous' : Object.fromEntries(captured)
}

/** A name or a value in a query, as forms send it. */
function fromForm(raw: string): string {
  return decodeURIComponent(raw.replaceAll('+', ' '))
}

function placeholderIn(raw: string): string | null {
  return raw.startsWith('{') ? raw.slice(1, -1) : null
}

/** Not decoded yet; null: two programs could read it differently. */
function partsOf(url: string): Parts | null {
  if (/[#\s]/.test(url) || /%00/.test(url)) return null
  try {
    decodeURIComponent(url)
  } catch {
    return null
  }
  const [path = '', ...more] = url.split('?')
  if ([...decodeURIComponent(path)].some(character => character < ' ' || character === '\u007f')) return null
  if (path.includes(';') || path.includes('\\')) return null
  const isElsewhere = path
    .split(/\/|%(?:25)*(?:2f|5c)/i)
    .some(part => /^(\.|%(?:25)*2e){1,2}(%(?:25)*(3b|00).*)?$/i.test(part))
  if (isElsewhere) return null
  const members = more
    .join('?')
    .split('&')
    .filter(member => member !== '')
  return {
    segments: path.replace(/\/$/, '').split('/'),
    query: members.map(member => {
      const [name = '', ...value] = member.split('=')
      return [name, value.join('=')] as const
    }),
  }
}
