/**
 * The process begins: what has to be settled before threads are there, then the first of them. It loads its code while this thread
 * loads its own and opens the store. Nothing imports this file.
 */
import { keepCompiled } from '#composition/compiled-code.ts'
import { tuneV8 } from '#composition/v8-tuning.ts'
import { WORKER_URLS } from '#composition/worker-urls.ts'
import { startAhead } from '#threads/channel/waiting-thread.ts'

tuneV8()
keepCompiled()
// The first word may be what the command line was told to do (`src/verdict.js`); any other asks for help, or is refused.
if (process.argv.length === (process.argv[2] === 'serve' ? 3 : 2)) startAhead(WORKER_URLS.http)
await import('./process.ts')
