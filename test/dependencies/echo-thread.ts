/** A uWebSockets.js app in a worker thread that listens on a free port and closes before the thread ends. */
import { parentPort } from 'node:worker_threads'
import { App, us_socket_local_port } from 'uWebSockets.js'

const port = parentPort!
const app = App().get('/*', res => {
  res.end('decided')
})
app.listen('127.0.0.1', 0, socket => {
  port.postMessage({ port: socket ? us_socket_local_port(socket) : 0 })
})
port.once('message', () => {
  app.close()
  port.close()
})
