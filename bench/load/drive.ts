/**
 * Runs one mode against the service with autocannon, in this thread. Verifies every response and measures the
 * utilization of the client.
 */
import autocannon from 'autocannon'
import type { LoadModel } from './load-model.ts'
import type { CheckedRequest, Mode } from './modes.ts'

/** Number of errors after which a run ends, because the service is probably not available any more. */
const ERRORS_MAX = 1_000
/** Maximum number of wrong responses that are reported in full. */
const TOLD_MAX = 3

export interface DriveOptions {
  readonly address: string
  readonly connections: number
  readonly seconds: number
  /** Number of requests; null if the duration limits the run. */
  readonly amount: number | null
}

export interface Driven {
  readonly result: autocannon.Result
  readonly wrong: WrongAnswers
  /** Share of the time in which the client thread was busy. */
  readonly busy: number
  /** Number of processors that the client used on average. */
  readonly cpus: number
}

/** Responses that were not as expected. */
export class WrongAnswers {
  count = 0
  readonly told: string[] = []

  note({ method, path, body }: CheckedRequest, status: number, text: string): void {
    this.count += 1
    const cut = (long: string) => (long.length > 300 ? `${long.slice(0, 300)}…` : long)
    if (this.told.length < TOLD_MAX)
      this.told.push(`${method} ${path} ${cut(body)}\n    ${status} ${cut(text)}`)
  }
}

/** Verifies responses. A body that equals an earlier correct body is not parsed again. */
class Judge {
  readonly #right = new Map<CheckedRequest, string>()

  isRight(asked: CheckedRequest, status: number, text: string): boolean {
    if (status < 200 || status > 299) return false
    if (this.#right.get(asked) === text) return true
    const isRight = asked.isRight(parsed(text))
    if (isRight) this.#right.set(asked, text)
    return isRight
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Sends each request once and verifies the response. The decisions must reflect the whole model. */
export async function verify(mode: Mode, model: LoadModel): Promise<WrongAnswers> {
  const [wrong, judge] = [new WrongAnswers(), new Judge()]
  for (const asked of mode.requests(model, 0)) {
    const { method, path, body } = asked
    const { status, text } = await model.decider.ask(method, path, { body, minRevision: model.revision })
    if (!judge.isRight(asked, status, text)) wrong.note(asked, status, text)
  }
  return wrong
}

/** Runs until the time is over, all requests have completed, or `signal` aborts. */
export async function drive(
  mode: Mode,
  model: LoadModel,
  { address, connections, seconds, amount }: DriveOptions,
  signal: AbortSignal,
): Promise<Driven> {
  const [wrong, judge] = [new WrongAnswers(), new Judge()]
  const requestsOf = (connection: number): autocannon.Request[] =>
    mode.requests(model, connection).map(asked => ({
      method: asked.method,
      path: asked.path,
      body: asked.body,
      onResponse: (status, text) => {
        if (!judge.isRight(asked, status, text)) wrong.note(asked, status, text)
      },
    }))
  let connection = 0
  const began = { loop: performance.eventLoopUtilization(), cpu: process.cpuUsage(), at: performance.now() }
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const run = autocannon(
      {
        url: address,
        title: mode.title,
        connections,
        ...(amount === null ? { duration: seconds } : { amount }),
        bailout: ERRORS_MAX,
        headers: model.decider.headers(),
        requests: requestsOf(0),
        setupClient: client => client.setRequests(requestsOf(connection++)),
      },
      (error: unknown, done) => (error ? reject(error as Error) : resolve(done)),
    )
    signal.addEventListener('abort', () => run.stop())
  })
  const { user, system } = process.cpuUsage(began.cpu)
  return {
    result,
    wrong,
    busy: performance.eventLoopUtilization(began.loop).utilization,
    cpus: (user + system) / 1_000 / (performance.now() - began.at),
  }
}
