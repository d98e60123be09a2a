/**
 * The older form of a native check, which clients of the first decision points send: the user is a text, and the instance is `resource.id`.
 * In the present form `resource.id` is an unknown member, which has no effect.
 */
type Members = Readonly<Record<string, unknown>>

/** The check in the present form, before its shape is checked. One that names its instance twice, differently, stays as it is: 400. */
export function presentForm(question: unknown): unknown {
  if (!isMembers(question) || typeof question['user'] !== 'string') return question
  const { user, resource, ...rest } = question
  if (!isMembers(resource)) return question
  const { id, key, ...others } = resource
  if (id !== undefined && key !== undefined && id !== key) return question
  return { ...rest, user: { key: user }, resource: { ...others, key: key ?? id } }
}

/** The same for a bulk. */
export function presentForms(questions: unknown): unknown {
  return Array.isArray(questions) ? questions.map(presentForm) : questions
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
