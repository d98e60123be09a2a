/**
 * The types that nobody makes: they carry the attributes that users and tenants may have. Every environment has them. The row
 * of one is made with the first of its attributes. One has neither actions nor roles, relations or instances, and the engine
 * does not know it.
 */
export const USER_TYPE_KEY = '__user'
export const TENANT_TYPE_KEY = '__tenant'

export type BuiltInTypeKey = typeof USER_TYPE_KEY | typeof TENANT_TYPE_KEY

/** The names of a carrier that have a meaning of their own in conditions: nobody declares an attribute so. */
const BUILT_IN_ATTRIBUTES: Readonly<Record<BuiltInTypeKey, readonly string[]>> = {
  [USER_TYPE_KEY]: ['key', 'email', 'first_name', 'last_name', 'roles', 'tenants'],
  [TENANT_TYPE_KEY]: ['key'],
}
const RESOURCE_ATTRIBUTES: readonly string[] = ['type']

/** Applied to the random end of an environment's id. Stored by callers: never changed. */
const ID_MASKS: Readonly<Record<BuiltInTypeKey, number>> = {
  [USER_TYPE_KEY]: 0x3c51_09a7,
  [TENANT_TYPE_KEY]: 0x1e86_d2f4,
}
const ID_MASK_DIGITS = 8

/** The id of a built-in type whose row is not made yet, and with which it will be made. */
export function builtInTypeId(environmentId: string, key: BuiltInTypeKey): string {
  const at = environmentId.length - ID_MASK_DIGITS
  const masked = (Number.parseInt(environmentId.slice(at), 16) ^ ID_MASKS[key]) >>> 0
  return environmentId.slice(0, at) + masked.toString(16).padStart(ID_MASK_DIGITS, '0')
}

export const BUILT_IN_TYPE_KEYS: readonly BuiltInTypeKey[] = [USER_TYPE_KEY, TENANT_TYPE_KEY]

export function isBuiltInTypeKey(key: string): key is BuiltInTypeKey {
  return BUILT_IN_TYPE_KEYS.some(builtIn => builtIn === key)
}

/** The attributes that a type has without a declaration, and that no declaration may name (conditions.md 1.1). */
export function builtInAttributesOf(typeKey: string): readonly string[] {
  return isBuiltInTypeKey(typeKey) ? BUILT_IN_ATTRIBUTES[typeKey] : RESOURCE_ATTRIBUTES
}
