/** Combines the sources of values (conditions.md 4.1) into one object per root, with own properties only. */
export type JsonObject = { readonly [name: string]: unknown }

/** The objects in which paths begin. */
export interface Roots {
  readonly user: JsonObject
  readonly resource: JsonObject
  readonly tenant: JsonObject
  readonly context: JsonObject
  readonly server: JsonObject
}

/** Attributes of a source. If absent or null, the source has none. A single attribute can be null. */
export interface AttributesPart {
  readonly attributes?: JsonObject | null
}

export interface UserPart extends AttributesPart {
  readonly email?: string | null
  readonly first_name?: string | null
  readonly last_name?: string | null
}

/** Attributes for one check, from each source. */
export interface QuestionParts {
  /** Values that the service computes. Other sources cannot override them. */
  readonly computed: {
    readonly user: {
      readonly key: string
      readonly roles: readonly string[]
      /** Tenants in which the user has a tenant role. */
      readonly tenants: readonly string[]
    }
    readonly resource: { readonly type: string; readonly tenant: string; readonly key?: string }
    readonly tenant: { readonly key: string }
    readonly server: { readonly time?: string }
  }
  /** Attributes in the request. AuthZEN properties are attributes; the action is `context.action`. */
  readonly request: {
    readonly user?: UserPart | null
    readonly resource?: (AttributesPart & { readonly context?: JsonObject | null }) | null
    readonly tenant?: AttributesPart | null
    readonly context?: JsonObject | null
  }
  readonly stored: {
    readonly user?: UserPart | null
    readonly resource?: AttributesPart | null
    readonly tenant?: AttributesPart | null
  }
}

export function mergedRoots({ computed, request, stored }: QuestionParts): Roots {
  const { key } = computed.resource
  const isMember = computed.user.tenants.includes(computed.tenant.key)
  return {
    user: merged(saidOfUser(stored.user), saidOfUser(request.user), computed.user),
    resource: merged(
      key === undefined ? {} : { id: key },
      stored.resource?.attributes,
      request.resource?.attributes,
      computed.resource,
    ),
    tenant: merged(isMember ? stored.tenant?.attributes : null, request.tenant?.attributes, computed.tenant),
    context: merged(request.resource?.context, request.context),
    server: merged(computed.server),
  }
}

/** Fields override attributes with the same name, except null fields (section 16, ruling 6). */
function saidOfUser(part: UserPart | null | undefined): JsonObject {
  const { attributes, email, first_name, last_name } = part ?? {}
  const fields = Object.entries({ email, first_name, last_name })
  return merged(
    attributes,
    Object.fromEntries(fields.filter(([, value]) => value !== null && value !== undefined)),
  )
}

/** Later sources override earlier ones. If both values are objects, they are merged by member. */
function merged(...sources: readonly (JsonObject | null | undefined)[]): JsonObject {
  return sources.reduce<JsonObject>((lower, source) => {
    const higher = source ?? {}
    const names = new Set([...Object.keys(lower), ...Object.keys(higher)])
    return Object.fromEntries(
      [...names].map(name => {
        const [below, above] = [own(lower, name), own(higher, name)]
        if (isObject(below) && isObject(above)) return [name, merged(below, above)]
        return [name, above === undefined ? below : above]
      }),
    )
  }, {})
}

/** Returns the value at the path, or `undefined` if it is missing. */
export function readPath(path: string, roots: Roots): unknown {
  const [name, ...names] = path.split('.')
  const root = ROOTS.get(name!)
  if (root === undefined) throw new Error(`the path has no known root: ${path}`)
  return readNames(roots[root], names)
}

const ROOTS: ReadonlyMap<string, keyof Roots> = new Map([
  ['user', 'user'],
  ['subject', 'user'],
  ['resource', 'resource'],
  ['tenant', 'tenant'],
  ['context', 'context'],
  ['environment', 'context'],
  ['server', 'server'],
])

/**
 * Follows a path. The name of a member can contain dots: the longest own name that is a prefix of the path is
 * used, even if the rest of the path then leads to no value. The rest has one member per name. Values that
 * are not objects, such as arrays, have no members.
 */
export function readNames(object: JsonObject, names: readonly string[]): unknown {
  if (names.length === 0 || names.includes('')) throw new Error(`empty path or name: ${names.join('.')}`)
  for (let count = names.length; count > 0; count--) {
    const value = own(object, names.slice(0, count).join('.'))
    if (value === undefined) continue
    return names.slice(count).reduce<unknown>((at, name) => (isObject(at) ? own(at, name) : undefined), value)
  }
  return undefined
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function own(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}
