/**
 * Completion in the conditions editor. It suggests the attributes, operators and connectives that are valid
 * at a position.
 */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import { syntaxTree } from '@codemirror/language'
import type { SyntaxNode } from '@lezer/common'
import { namesAround, placeOf } from './places.ts'

/** An attribute that is declared in the model or computed by the service. */
export interface KnownAttribute {
  readonly path: string
  readonly type: string
  readonly description?: string | null | undefined
}

export interface Vocabulary {
  readonly attributes: () => Promise<readonly KnownAttribute[]>
  readonly words: {
    readonly connectives: Readonly<Record<'allOf' | 'anyOf' | 'not', string>>
    readonly operators: Readonly<Record<Operator, string>>
    readonly ref: string
  }
}

/** Operators (see `docs/conditions.md`), each with a template for its operand. */
const OPERATORS = {
  equals: '""',
  'not-equals': '""',
  'less-than': '',
  'less-than-equals': '',
  'greater-than': '',
  'greater-than-equals': '',
  between: '[]',
  contains: '""',
  match: '""',
  in: '[]',
  array_contains: '""',
  array_subset: '[]',
  array_superset: '[]',
  array_intersect: '[]',
  array_len_equals: '',
  array_len_greater_than: '',
  array_len_less_than: '',
  object_match: '{ "match": {} }',
  any_match: '{ "match": {} }',
  all_match: '{ "match": {} }',
  exists: 'true',
} as const
type Operator = keyof typeof OPERATORS

const CONNECTIVES = { allOf: '[]', anyOf: '[]', not: '{}' } as const

/** Attributes that exist although the model does not declare them. */
const ROOTS: readonly KnownAttribute[] = [
  { path: 'user.key', type: 'string' },
  { path: 'user.roles', type: 'array' },
  { path: 'user.tenants', type: 'array' },
  { path: 'user.email', type: 'string' },
  { path: 'resource.key', type: 'string' },
  { path: 'resource.type', type: 'string' },
  { path: 'resource.tenant', type: 'string' },
  { path: 'tenant.key', type: 'string' },
  { path: 'server.time', type: 'time' },
  { path: 'context.', type: 'json' },
]

export function completionOf(vocabulary: Vocabulary) {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const node = syntaxTree(context.state).resolveInner(context.pos, -1)
    const found = placeAt(context, node)
    if (found === null) return null
    const { names, isName, from, to, isQuoted } = found
    const place = placeOf(names)
    if (place === null) return null
    const paths = async (value: string): Promise<Completion[]> => {
      const known = [...(await vocabulary.attributes()), ...ROOTS]
      return known.map(({ path, type, description }) => ({
        type: 'property',
        detail: type,
        ...(description ? { info: description } : {}),
        ...inserted(path, value, isQuoted),
      }))
    }
    const { words } = vocabulary
    let options: readonly Completion[] = []
    if (isName && place.kind === 'condition') {
      options = [...(await paths('{}')), ...listed(CONNECTIVES, words.connectives, isQuoted)]
    } else if (isName && place.kind === 'test') {
      options = [
        ...listed(OPERATORS, words.operators, isQuoted),
        ...listed(CONNECTIVES, words.connectives, isQuoted),
      ]
    } else if (isName && place.kind === 'value') {
      options = [{ type: 'keyword', detail: words.ref, ...inserted('ref', '""', isQuoted) }]
    } else if (!isName && place.kind === 'ref') {
      options = await paths('')
    }
    if (options.length === 0) return null
    return { from, to, options, validFor: /^[\w.:-]*$/ }
  }
}

interface WrittenPlace {
  readonly names: readonly string[]
  /** Whether the position is that of a member name. False if it is that of a value. */
  readonly isName: boolean
  /** Start of the text that a suggestion replaces. If the text is quoted, the start is after the quote. */
  readonly from: number
  readonly to: number
  readonly isQuoted: boolean
}

function placeAt(context: CompletionContext, node: SyntaxNode): WrittenPlace | null {
  const { state, pos } = context
  if (node.name === 'PropertyName' || node.name === 'String') {
    if (pos === node.from) return null
    const isClosed = node.to > node.from + 1 && state.sliceDoc(node.to - 1, node.to) === '"'
    if (isClosed && pos === node.to) return null
    const isName = node.name === 'PropertyName'
    const names = namesAround(state, isName ? node.parent! : node)
    return { names, isName, from: node.from + 1, to: isClosed ? node.to - 1 : node.to, isQuoted: true }
  }
  // The text before the position is examined, because an unclosed string has no node in the syntax tree.
  const before = /"([\w.:-]*)$/.exec(state.sliceDoc(Math.max(0, pos - 300), pos))
  const object = enclosing(node)
  if (object === null || object.name !== 'Object') return null
  const isAtName = /[{,]\s*(?:"[\w.:-]*)?$/.test(state.sliceDoc(Math.max(0, pos - 300), pos))
  if (!isAtName || (before === null && !context.explicit)) return null
  const from = before === null ? pos : pos - before[1]!.length
  return { names: namesAround(state, object), isName: true, from, to: pos, isQuoted: before !== null }
}

function enclosing(node: SyntaxNode): SyntaxNode | null {
  for (let at: SyntaxNode | null = node; at !== null; at = at.parent) {
    if (at.name === 'Object' || at.name === 'Array') return at
  }
  return null
}

function listed<Word extends string>(
  values: Readonly<Record<Word, string>>,
  texts: Readonly<Record<Word, string>>,
  isQuoted: boolean,
): Completion[] {
  return (Object.keys(values) as Word[]).map(word => ({
    type: 'keyword',
    detail: texts[word],
    ...inserted(word, values[word], isQuoted),
  }))
}

/**
 * Inserts the label of a suggestion. If nothing follows it, also inserts the template. Then moves the cursor
 * to the position at which the user continues to type.
 */
function inserted(label: string, value: string, isQuoted: boolean): Pick<Completion, 'label' | 'apply'> {
  return {
    label,
    apply: (view, _completion, from, to) => {
      const isClosed = isQuoted && view.state.sliceDoc(to, to + 1) === '"'
      const isIncomplete = label.endsWith('.')
      const text = JSON.stringify(label).slice(1, -1)
      const open = isQuoted ? '' : '"'
      const hasMore = /^"?\s*:/.test(view.state.sliceDoc(to, to + 20))
      if (isIncomplete || hasMore || value === '') {
        const insert = open + text + (isClosed || isIncomplete ? '' : '"')
        const end = from + insert.length + (isClosed && !isIncomplete && !hasMore ? 1 : 0)
        view.dispatch({
          changes: { from, to, insert },
          selection: { anchor: end },
          userEvent: 'input.complete',
        })
        return
      }
      const insert = `${open}${text}": ${value}`
      // Moves the cursor into the innermost brackets or quotes.
      const closers = /["\]} ]*$/.exec(value)![0].length
      const inside = /^["[{]/.test(value) ? Math.ceil(closers / 2) : 0
      const back = value === '{ "match": {} }' ? 3 : inside
      view.dispatch({
        changes: { from, to: isClosed ? to + 1 : to, insert },
        selection: { anchor: from + insert.length - back },
        userEvent: 'input.complete',
      })
    },
  }
}
