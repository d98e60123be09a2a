/** Errors for lines of an import, and lookups that throw them. */
import { AuthzError } from '#model/errors.ts'

export function known(ids: ReadonlyMap<string, string>, what: string, key: string): string {
  const id = ids.get(key)
  if (id === undefined) throw unknown(what, key)
  return id
}

export function unknown(what: string, name: string): AuthzError {
  return invalid(`no previous line contains ${what} ${JSON.stringify(name)}`)
}

export function repeated(what: string, name: string): AuthzError {
  return invalid(`${what} ${JSON.stringify(name)} occurs twice`)
}

export function invalid(message: string): AuthzError {
  return new AuthzError('INVALID_INPUT', message)
}
