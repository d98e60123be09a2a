/**
 * Starts the process: applies the settings that must be applied before threads are created, and then starts
 * the first thread. This thread loads its code while the main thread loads its own code and opens the store.
 * No module imports this file.
 */
import { keepCompiled } from '#composition/process/compiled-code.ts'
import { tuneV8 } from '#composition/process/v8-tuning.ts'
import { WORKER_URLS } from '#composition/process/worker-urls.ts'
import { startAhead } from '#threads/channel/waiting-thread.ts'

tuneV8()
keepCompiled()
// The first argument can be the command `serve` (`src/verdict.js`). With any other argument, the process
// prints the help or an error, so no thread is started here.
if (process.argv.length === (process.argv[2] === 'serve' ? 3 : 2)) startAhead(WORKER_URLS.http)
await import('./process.ts')
