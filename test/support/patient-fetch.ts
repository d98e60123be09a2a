/**
 * Removes the timeouts of `fetch`: ten seconds for a connection, five minutes for the head of a response and
 * between two parts of its body. Node offers no other access to its HTTP client than the global dispatcher.
 */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1')

const places = globalThis as unknown as Record<symbol, { constructor: new (options: object) => never }>
// The first call creates the dispatcher.
await fetch('data:,')
const { constructor: Agent } = places[DISPATCHER]!
places[DISPATCHER] = new Agent({ connect: { timeout: 0 }, headersTimeout: 0, bodyTimeout: 0 })
