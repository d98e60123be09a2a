/**
 * Relates positions in the text of conditions to their meaning. Converts the path in an API error to a text
 * range, and determines what is valid at a position.
 */
import { ensureSyntaxTree, syntaxTree } from '@codemirror/language'
import type { EditorState } from '@codemirror/state'
import type { SyntaxNode } from '@lezer/common'

/** Time limit for parsing the text, in milliseconds. */
const READ_MS_MAX = 200
const VALUES = new Set(['Object', 'Array', 'String', 'Number', 'True', 'False', 'Null'])

export interface Span {
  readonly from: number
  readonly to: number
}

/**
 * Text range for a path. If the path does not exist, the range of its last existing element. The range of a
 * member is that of its name.
 */
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
    // The API accepts a single object in place of a list with one element. The index 0 then means the object
    // itself.
    if (property === null && part === 0) continue
    if (property === null) break
    span = property.getChild('PropertyName') ?? property
    node = valueIn(property)
  }
  // If the value of a member is a string, number or literal, the whole member is marked. If it is an object
  // or a list, only its name is marked.
  const isShort = node !== null && node.name !== 'Object' && node.name !== 'Array'
  return { from: span.from, to: isShort ? node!.to : span.to }
}

/** If a name occurs several times, the last member with this name counts. */
function propertyOf(state: EditorState, object: SyntaxNode, name: string): SyntaxNode | null {
  return object.getChildren('Property').findLast(property => nameOf(state, property) === name) ?? null
}

export function nameOf(state: EditorState, property: SyntaxNode): string | null {
  const name = property.getChild('PropertyName')
  return name === null ? null : unquoted(state.sliceDoc(name.from, name.to))
}

/** Content of a string literal, even if its closing quote is missing. */
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

/**
 * Kind of a position. `condition` and `test`: members of a condition or a test. `ref`: the path of a
 * reference. `value`: the operand of an operator.
 */
export type Place =
  | { readonly kind: 'condition' | 'ref' }
  | { readonly kind: 'test'; readonly path: string }
  | { readonly kind: 'value'; readonly path: string; readonly operator: string }

const CONNECTIVES = new Set(['allOf', 'and', 'anyOf', 'or', 'not'])
const MATCHES = new Set(['object_match', 'any_match', 'all_match'])

/**
 * `names` are the names of the members that enclose the position, beginning with the outermost member. Lists
 * are not included. Returns null if nothing is known about the position.
 */
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

/**
 * Names of the members that enclose a node, beginning with the outermost one. The name of the node itself is
 * not included.
 */
export function namesAround(state: EditorState, node: SyntaxNode): string[] {
  const names: string[] = []
  for (let around = node.parent; around !== null; around = around.parent) {
    if (around.name === 'Property') names.unshift(nameOf(state, around) ?? '')
  }
  return names
}
