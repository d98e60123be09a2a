/**
 * Takes from `fetch` the deadlines that Node gives it: ten seconds for a connection, five minutes for the head of an answer and
 * between two parts of its body. Node shows no other way to its own client than the place where that keeps its dispatcher.
 */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1')

const places = globalThis as unknown as Record<symbol, { constructor: new (options: object) => never }>
// Made with the first call.
await fetch('data:,')
const { constructor: Agent } = places[DISPATCHER]!
places[DISPATCHER] = new Agent({ connect: { timeout: 0 }, headersTimeout: 0, bodyTimeout: 0 })
