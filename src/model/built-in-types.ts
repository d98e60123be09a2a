/**
 * Built-in resource types. They contain the attribute declarations of users and tenants. Every environment
 * has them. The row of a built-in type is created together with its first attribute. A built-in type has no
 * actions, roles, relations or instances, and the engine does not know it.
 */
export const USER_TYPE_KEY = '__user'
export const TENANT_TYPE_KEY = '__tenant'

export type BuiltInTypeKey = typeof USER_TYPE_KEY | typeof TENANT_TYPE_KEY

/** Names that have a built-in meaning in conditions. Attributes with these names cannot be declared. */
const BUILT_IN_ATTRIBUTES: Readonly<Record<BuiltInTypeKey, readonly string[]>> = {
  [USER_TYPE_KEY]: ['key', 'email', 'first_name', 'last_name', 'roles', 'tenants'],
  [TENANT_TYPE_KEY]: ['key'],
}
const RESOURCE_ATTRIBUTES: readonly string[] = ['type']

/**
 * Masks for the random end of an environment's id, from which the ids of built-in types are derived. Clients
 * store these ids, so the masks must never change.
 */
const ID_MASKS: Readonly<Record<BuiltInTypeKey, number>> = {
  [USER_TYPE_KEY]: 0x3c51_09a7,
  [TENANT_TYPE_KEY]: 0x1e86_d2f4,
}
const ID_MASK_DIGITS = 8

/** Returns the id with which the row of a built-in type is created. */
export function builtInTypeId(environmentId: string, key: BuiltInTypeKey): string {
  const at = environmentId.length - ID_MASK_DIGITS
  const masked = (Number.parseInt(environmentId.slice(at), 16) ^ ID_MASKS[key]) >>> 0
  return environmentId.slice(0, at) + masked.toString(16).padStart(ID_MASK_DIGITS, '0')
}

export const BUILT_IN_TYPE_KEYS: readonly BuiltInTypeKey[] = [USER_TYPE_KEY, TENANT_TYPE_KEY]

export function isBuiltInTypeKey(key: string): key is BuiltInTypeKey {
  return BUILT_IN_TYPE_KEYS.some(builtIn => builtIn === key)
}

/**
 * Returns the attributes that a type has without a declaration. They cannot be declared (conditions.md 1.1).
 */
export function builtInAttributesOf(typeKey: string): readonly string[] {
  return isBuiltInTypeKey(typeKey) ? BUILT_IN_ATTRIBUTES[typeKey] : RESOURCE_ATTRIBUTES
}
