/**
 * Reference implementation of conditions, used to verify all other evaluators. It interprets the JSON of a
 * condition exactly as conditions.md 3 and 5 specify, for each check, without an intermediate form.
 *
 * It shares no code with `src`. Conditions are assumed to be valid (3.4): an unreadable condition is an
 * error, and a condition that can never match is not detected. It does not implement the limits of section
 * 11, including the limit on looked-up instances.
 */
import { isUnreadable, OPERATORS } from './operators.ts'
import { isObject, readNames, readPath } from './roots.ts'
import type { JsonObject, Roots } from './roots.ts'
import { conjunction, disjunction, known, negation } from './truth.ts'
import type { Truth } from './truth.ts'

/**
 * Stored attributes of an instance, `{}` if it has none, `undefined` if it is not in the tenant of the check.
 */
export type StoredInstances = (type: string, key: string) => object | undefined

/** Data that a leaf can read in addition to its attribute. */
interface World {
  readonly roots: Roots
  readonly stored: StoredInstances
}

export function truthOf(conditions: unknown, roots: Roots, stored: StoredInstances): Truth {
  const members = Object.entries(objectAt('conditions', conditions))
  return conjunction(
    members.map(
      ([name, value]) =>
        connected(name, value, item => truthOf(item, roots, stored)) ??
        truthOfTest(value, readPath(name, roots), { roots, stored }),
    ),
  )
}

const CONNECTIVES: ReadonlyMap<string, (values: readonly Truth[]) => Truth> = new Map([
  ['allOf', conjunction],
  ['and', conjunction],
  ['anyOf', disjunction],
  ['or', disjunction],
  ['not', values => negation(conjunction(values))],
])

/** `undefined` if the name is not a connective. A single item does not need a list. */
function connected(name: string, items: unknown, truthOfItem: (item: unknown) => Truth): Truth | undefined {
  const connective = CONNECTIVES.get(name)
  return connective?.((Array.isArray(items) ? items : [items]).map(truthOfItem))
}

/** `attribute` is `undefined` if it is missing. */
function truthOfTest(test: unknown, attribute: unknown, world: World): Truth {
  const members = Object.entries(objectAt('test', test))
  if (members.length !== 1) throw new Error(`a test has one operator: ${JSON.stringify(test)}`)
  const [name, value] = members[0]!
  return (
    connected(name, value, item => truthOfTest(item, attribute, world)) ??
    truthOfLeaf(name.replaceAll('-', '_'), value, attribute, world)
  )
}

function truthOfLeaf(name: string, written: unknown, attribute: unknown, world: World): Truth {
  if (name === 'exists') {
    if (typeof written !== 'boolean') throw new Error('exists takes a boolean')
    return known((attribute !== undefined) === written)
  }
  const match = MATCHES.get(name)
  if (match) return match(attribute, elementTest(objectAt(name, written), world))

  const isRefForm = name.endsWith('_ref')
  const operation = isRefForm ? name.slice(0, -'_ref'.length) : name
  const operator = OPERATORS.get(operation)
  if (!operator) throw new Error(`no operator: ${name}`)
  const operand = isRefForm ? { ref: written } : written
  if (isRef(operand) && TAKE_NO_REF.has(operation)) throw new Error(`${operation} takes no ref`)
  const right = readOperand(operand, world.roots)
  const areKnown = [attribute, right].every(each => each !== undefined && !isUnreadable(each))
  return areKnown ? operator(attribute, right) : 'unknown'
}

/** Their operand is part of the condition and cannot be a ref, although a bound can be one. */
const TAKE_NO_REF: ReadonlySet<string> = new Set(['match', 'between'])

/** Replaces refs in the operand with their values. `undefined` if any ref reads nothing. */
function readOperand(written: unknown, roots: Roots): unknown {
  if (!Array.isArray(written)) return readRef(written, roots)
  const elements = written.map(each => readRef(each, roots))
  return elements.includes(undefined) ? undefined : elements
}

function readRef(written: unknown, roots: Roots): unknown {
  if (!isRef(written)) return written
  if (typeof written.ref !== 'string') throw new Error('a ref is a path')
  return readPath(written.ref, roots)
}

/** An object with members other than `ref` is a literal. */
function isRef(written: unknown): written is { readonly ref: unknown } {
  return isObject(written) && Object.keys(written).join() === 'ref'
}

type ElementTest = (element: unknown) => Truth

const MATCHES: ReadonlyMap<string, (attribute: unknown, holdsOf: ElementTest) => Truth> = new Map([
  ['object_match', (attribute, holdsOf) => holdsOf(attribute)],
  ['any_match', ofElements(disjunction)],
  ['all_match', ofElements(conjunction)],
])

function ofElements(connective: (values: readonly Truth[]) => Truth) {
  return (attribute: unknown, holdsOf: ElementTest): Truth =>
    Array.isArray(attribute) ? connective(attribute.map(element => holdsOf(element))) : 'unknown'
}

/** Tests whether all conditions hold for the members of the element, or of the instance whose key it is. */
function elementTest(operand: JsonObject, world: World): ElementTest {
  const tests = Object.entries(objectAt('match', operand['match']))
  const holdOn = (object: unknown, at: World): Truth => {
    if (!isObject(object)) return 'unknown'
    return conjunction(tests.map(([name, test]) => truthOfTest(test, readNames(object, name.split('.')), at)))
  }
  const type = operand['fk_resource_type']
  if (type === undefined) return element => holdOn(element, world)
  if (typeof type !== 'string') throw new Error('fk_resource_type is a type')
  return element =>
    holdOn(typeof element === 'string' ? world.stored(type, element) : undefined, {
      ...world,
      stored: lookUpAgain,
    })
}

const lookUpAgain: StoredInstances = () => {
  throw new Error('a match within a match on instances has no fk_resource_type')
}

function objectAt(place: string, value: unknown): JsonObject {
  if (!isObject(value)) throw new Error(`${place} is an object, not ${JSON.stringify(value)}`)
  return value
}
