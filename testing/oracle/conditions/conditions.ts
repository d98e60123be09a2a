/**
 * Reference implementation of conditions, with which all other evaluators are verified. For each check, it
 * interprets the JSON of a condition exactly as conditions.md 3 and 5 specify, without an intermediate form.
 *
 * It shares no code with `src`. Conditions must be valid (3.4): a condition that cannot be parsed causes an
 * error, and a condition that can never be true is not detected. The limits of section 11 do not apply, not
 * even the limit on looked-up instances.
 */
import { isUnreadable, OPERATORS } from './operators.ts'
import { isObject, readNames, readPath, type JsonObject, type Roots } from './roots.ts'
import { conjunction, disjunction, known, negation, type Truth } from './truth.ts'

/** Returns the stored attributes of an instance; `{}` if it has none; `undefined` if the tenant lacks it. */
export type StoredInstances = (type: string, key: string) => object | undefined

/** Data that a test can read in addition to its attribute. */
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

/** Returns `undefined` if the name is not a connective. A single item need not be in a list. */
function connected(name: string, items: unknown, truthOfItem: (item: unknown) => Truth): Truth | undefined {
  const connective = CONNECTIVES.get(name)
  return connective?.((Array.isArray(items) ? items : [items]).map(truthOfItem))
}

/** Evaluates a test. `attribute` is `undefined` if it is missing. */
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
  if (!operator) throw new Error(`unknown operator: ${name}`)
  const operand = isRefForm ? { ref: written } : written
  if (isRef(operand) && TAKE_NO_REF.has(operation))
    throw new Error(`the operand of ${operation} cannot be a ref`)
  const right = readOperand(operand, world.roots)
  const areKnown = [attribute, right].every(each => each !== undefined && !isUnreadable(each))
  return areKnown ? operator(attribute, right) : 'unknown'
}

/** Operators whose operand cannot be a ref. (A bound of `between` can be one.) */
const TAKE_NO_REF: ReadonlySet<string> = new Set(['match', 'between'])

/** Replaces the refs in an operand by their values. Returns `undefined` if a ref leads to no value. */
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

/** Returns whether this is a ref. An object that also has other members is a literal. */
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

/** Returns a test: are all conditions true for the members of an element, or of the instance it names? */
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
