/**
 * The code of a process as V8 has compiled it, kept in files for the next start. They are in the checkout or the package, which
 * whoever may write there owns anyhow; where nobody may write, each start compiles anew. V8 takes them for the very text, Node and
 * flags of which they were made, and for no other. `NODE_COMPILE_CACHE` names another folder, `NODE_DISABLE_COMPILE_CACHE` keeps none.
 */
import module from 'node:module'
import { compiledFolder } from './quick-entry.js'

/** Of this thread, and of threads that it starts from now on. */
export function keepCompiled(): void {
  if (module.enableCompileCache(compiledFolder).directory === undefined) return
  // What a thread takes it from.
  process.env['NODE_COMPILE_CACHE'] ??= compiledFolder
}

/** Writes what this thread has compiled and the files do not have, functions included that were called by now. */
export function writeCompiled(): void {
  module.flushCompileCache()
}
