/**
 * Converts the older format of a native check, which clients of the first decision points send. In the older
 * format, the user is a string, and the instance is in `resource.id`. In the current format, `resource.id` is
 * an unknown member without effect.
 */
import { isObject } from '#model/json-object.ts'

/**
 * Converts a check to the current format. Called before the check is validated. If the check contains two
 * different names of its instance, it stays unchanged and is later rejected with 400.
 */
export function presentForm(question: unknown): unknown {
  if (!isObject(question) || typeof question['user'] !== 'string') return question
  const { user, resource, ...rest } = question
  if (!isObject(resource)) return question
  const { id, key, ...others } = resource
  if (id !== undefined && key !== undefined && id !== key) return question
  return { ...rest, user: { key: user }, resource: { ...others, key: key ?? id } }
}

/** Converts the checks of a bulk. */
export function presentForms(questions: unknown): unknown {
  return Array.isArray(questions) ? questions.map(presentForm) : questions
}
