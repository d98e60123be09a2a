/**
 * The baseline server: a minimal uWebSockets.js server. It reads the body, parses it as JSON and returns a
 * constant response with the same size as that of the service. Its speed is an upper bound for a service that
 * makes decisions.
 */
import { App, type HttpResponse, us_socket_local_port } from 'uWebSockets.js'

const app = App()
app.post('/allowed', res => answer(res, () => '{"allow":true,"result":true}'))
app.post('/allowed/bulk', res =>
  answer(res, checks => `{"allow":[${repeated('{"allow":true,"result":true}', checks)}]}`),
)
app.post('/access/v1/evaluations', res =>
  answer(res, body => {
    const { evaluations } = body as { evaluations: unknown }
    return `{"evaluations":[${repeated('{"decision":true}', evaluations)}]}`
  }),
)
app.listen('127.0.0.1', 0, socket => {
  process.stdout.write(`listens on http://127.0.0.1:${socket ? us_socket_local_port(socket) : 0}\n`)
})

const texts = new Map<string, string>()

/**
 * Returns as many results as there are items. The text is cached by the number of items, so that creating it
 * costs nothing.
 */
function repeated(one: string, items: unknown): string {
  const count = (items as unknown[]).length
  const name = `${one}${count}`
  let text = texts.get(name)
  if (text === undefined) {
    text = Array.from({ length: count }, () => one).join(',')
    texts.set(name, text)
  }
  return text
}

function answer(res: HttpResponse, body: (parsed: unknown) => string): void {
  let read: Buffer | null = null
  res.onAborted(() => {})
  res.onData((chunk, isLast) => {
    const part = Buffer.from(chunk)
    if (read === null && isLast) read = part
    else read = read === null ? Buffer.concat([part]) : Buffer.concat([read, part])
    if (!isLast) return
    const parsed: unknown = JSON.parse(read.toString())
    res.cork(() => {
      res.writeHeader('content-type', 'application/json').end(body(parsed))
    })
  })
}
