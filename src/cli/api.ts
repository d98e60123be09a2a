/** The service as the commands see it: requests in its own words, wherever it runs. */

export interface ApiAnswer {
  readonly status: number
  /** The JSON that came; the text where it was none; undefined without a body. */
  readonly body: unknown
}

export interface Api {
  send(method: string, path: string, body?: unknown): Promise<ApiAnswer>
}

/** The service said no, or something that is no answer. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** The body of a successful answer. Throws `ApiError` with what the service says otherwise. */
export async function request(api: Api, method: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await api.send(method, path, body)
  if (answer.status < 300) return answer.body
  throw new ApiError(answer.status, `${method} ${path}: ${messageOf(answer)}`)
}

/** What an error answer says, whichever of the service's forms it has. */
export function messageOf({ status, body }: ApiAnswer): string {
  if (typeof body === 'string' && body !== '') return body
  if (typeof body === 'object' && body !== null && 'message' in body) return String(body.message)
  return `status ${status}`
}

/** What came, as JSON where it is. */
export function bodyOf(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
