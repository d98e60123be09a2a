/**
 * Starts the process: applies settings that must precede the creation of threads, then starts the first
 * thread. That thread loads its code while this thread loads its own code and opens the store. No module
 * imports this file.
 */
import { keepCompiled } from '#composition/compiled-code.ts'
import { tuneV8 } from '#composition/v8-tuning.ts'
import { WORKER_URLS } from '#composition/worker-urls.ts'
import { startAhead } from '#threads/channel/waiting-thread.ts'

tuneV8()
keepCompiled()
// The first argument can be the command `serve` (`src/verdict.js`). Any other argument requests help or is
// rejected.
if (process.argv.length === (process.argv[2] === 'serve' ? 3 : 2)) startAhead(WORKER_URLS.http)
await import('./process.ts')
