/**
 * The floor: a bare uWebSockets.js server that reads the body, parses it as JSON and answers a constant of the size ours
 * answers. What a service that decides can at best reach.
 */
import { App, us_socket_local_port } from 'uWebSockets.js'

const app = App()
app.post('/allowed', res => answer(res, () => '{"allow":true,"result":true}'))
app.post('/allowed/bulk', res =>
  answer(res, checks => {
    const one = '{"allow":true,"result":true}'
    return `{"allow":[${Array.from({ length: (checks as unknown[]).length }, () => one).join(',')}]}`
  }),
)
app.listen('127.0.0.1', 0, socket => {
  process.stdout.write(`listens on http://127.0.0.1:${socket ? us_socket_local_port(socket) : 0}\n`)
})

type Response = Parameters<Parameters<typeof app.post>[1]>[0]

function answer(res: Response, body: (parsed: unknown) => string): void {
  let read: Buffer | null = null
  res.onAborted(() => {})
  res.onData((chunk, isLast) => {
    const part = Buffer.from(chunk)
    read = read === null ? (isLast ? part : Buffer.from(part)) : Buffer.concat([read, part])
    if (!isLast) return
    const parsed: unknown = JSON.parse(read.toString())
    res.cork(() => {
      res.writeHeader('content-type', 'application/json').end(body(parsed))
    })
  })
}
