/**
 * Removes the timeouts of `fetch` for connections, heads and parts of responses. Only the global dispatcher
 * gives access to the HTTP client of Node.
 */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1')

const places = globalThis as unknown as Record<symbol, { constructor: new (options: object) => never }>
// The first call creates the dispatcher.
await fetch('data:,')
const { constructor: Agent } = places[DISPATCHER]!
places[DISPATCHER] = new Agent({ connect: { timeout: 0 }, headersTimeout: 0, bodyTimeout: 0 })
