/** Places in conditions: from the path that the interface tells to the text, and from the text to what may stand there. */
import { ensureSyntaxTree, syntaxTree } from '@codemirror/language'
import type { EditorState } from '@codemirror/state'
import type { SyntaxNode } from '@lezer/common'

/** How long a text may be read for its places. */
const READ_MS_MAX = 200
const VALUES = new Set(['Object', 'Array', 'String', 'Number', 'True', 'False', 'Null'])

export interface Span {
  readonly from: number
  readonly to: number
}

/** Where a path leads; where it leads on to nothing, the last thing on it. The name of a member stands for the member. */
export function spanOf(state: EditorState, path: readonly (string | number)[]): Span {
  const tree = ensureSyntaxTree(state, state.doc.length, READ_MS_MAX) ?? syntaxTree(state)
  let node = valueIn(tree.topNode)
  let span: Span = { from: 0, to: state.doc.length }
  for (const part of path) {
    if (node === null) break
    if (node.name === 'Array') {
      const element: SyntaxNode | undefined = valuesIn(node)[Number(part)]
      if (element === undefined) break
      node = element
      span = element
      continue
    }
    const property: SyntaxNode | null = node.name === 'Object' ? propertyOf(state, node, String(part)) : null
    // One object stands for a list of one.
    if (property === null && part === 0) continue
    if (property === null) break
    span = property.getChild('PropertyName') ?? property
    node = valueIn(property)
  }
  // A member is marked whole where it is short; of an object or a list its name is enough.
  const isShort = node !== null && node.name !== 'Object' && node.name !== 'Array'
  return { from: span.from, to: isShort ? node!.to : span.to }
}

/** Of members of one name the last counts. */
function propertyOf(state: EditorState, object: SyntaxNode, name: string): SyntaxNode | null {
  return object.getChildren('Property').findLast(property => nameOf(state, property) === name) ?? null
}

export function nameOf(state: EditorState, property: SyntaxNode): string | null {
  const name = property.getChild('PropertyName')
  return name === null ? null : unquoted(state.sliceDoc(name.from, name.to))
}

/** What stands in quotes, whole or not yet. */
function unquoted(text: string): string {
  try {
    return String(JSON.parse(text))
  } catch {
    return text.replaceAll(/^"|"$/g, '')
  }
}

function valueIn(node: SyntaxNode): SyntaxNode | null {
  return valuesIn(node)[0] ?? null
}

function valuesIn(node: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = []
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if (VALUES.has(child.name)) found.push(child)
  }
  return found
}

/** What a place in conditions is: of a condition or a test its members, of a ref its path; `value`: what an attribute is held against. */
export type Place =
  | { readonly kind: 'condition' | 'ref' }
  | { readonly kind: 'test'; readonly path: string }
  | { readonly kind: 'value'; readonly path: string; readonly operator: string }

const CONNECTIVES = new Set(['allOf', 'and', 'anyOf', 'or', 'not'])
const MATCHES = new Set(['object_match', 'any_match', 'all_match'])

/** `names`: of the members that lead to the place, from the outside; lists between them do not count. Null: nothing is known of it. */
export function placeOf(names: readonly string[]): Place | null {
  let at: 'condition' | 'test' | 'operand' | 'match' | 'tests' | 'ref' = 'condition'
  let path = ''
  let operator = ''
  for (const name of names) {
    if (at === 'condition') {
      if (CONNECTIVES.has(name)) continue
      path = name
      at = 'test'
    } else if (at === 'test') {
      if (CONNECTIVES.has(name)) continue
      operator = name
      at = MATCHES.has(name) ? 'match' : 'operand'
    } else if (at === 'match') {
      if (name !== 'match') return null
      at = 'tests'
    } else if (at === 'tests') {
      path = name
      at = 'test'
    } else if (at === 'operand' && name === 'ref') at = 'ref'
    else return null
  }
  if (at === 'condition' || at === 'ref') return { kind: at }
  if (at === 'test') return { kind: 'test', path }
  return at === 'operand' ? { kind: 'value', path, operator } : null
}

/** The names of the members around a node, from the outside, without that of the node itself. */
export function namesAround(state: EditorState, node: SyntaxNode): string[] {
  const names: string[] = []
  for (let around = node.parent; around !== null; around = around.parent) {
    if (around.name === 'Property') names.unshift(nameOf(state, around) ?? '')
  }
  return names
}
